/** What must hold of a plan's memory, at any time and in the end. */
import type { Core } from './core.ts'
import type { Checks, View } from './explorer.ts'
import type { Answer, Memories } from './oracle.ts'
import { after, isSequential, keyOf } from './oracle.ts'
import type { Plan } from './plan.ts'
import { bucketOf, burstsSet, SWEEP } from './plan.ts'
import { SLOT_BYTES, SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY, TALLY_OFFSET } from '../../src/memory/layout.ts'

type Arena = Core['Arena']['prototype']

export function checksOf(core: Core, arena: Arena, plan: Plan): Checks {
  const { before = [], threads, times, mayBeFull = false } = plan
  const bucket = bucketOf(plan)
  const mostSpends = Math.max(plan.burst, ...burstsSet(plan)) + 4
  const keys = [...new Set([...before.map(([, key]) => key), ...threads.flat().map(keyOf)])].filter((key) => !/^[~=]/.test(key))
  let start: Memories = Object.fromEntries(keys.map((key) => [key, bucket.start]))
  for (const [ms, key] of before) start = after(bucket, start, key, ms)!
  const verdicts = new Map<string, string | undefined>()
  const drains = new Map<string, Record<string, number[]>>()

  /** The arena as a thread sees it that attaches now. */
  function attached(): Arena {
    return Object.assign(arena, { takeTicket: () => 0, policies: new core.PolicyTable(arena.buffer) })
  }

  /** How often each key can still be spent, by spending it, or asked part by part; a key that finds no slot is left out. */
  function drain({ nowMs, tick, memory, restore }: View): Record<string, number[]> {
    const at = `${memory} ${tick}`
    const known = drains.get(at)
    if (known !== undefined) return known
    const drained: Record<string, number[]> = {}
    drains.set(at, drained)
    for (const key of keys) {
      // A dead thread's lock is broken by a time-out, which would cost time here.
      arena.cells.fill(0, arena.firstLock)
      const full = TALLY_OFFSET / 4 + TALLY.tableFull
      const buckets = new core.Buckets(attached(), { nowMs: () => nowMs })
      const parts = buckets.terms(0).length
      const before = arena.cells[full]
      let counts = [0]
      if (parts === 1) while (counts[0]! <= mostSpends && buckets.spend(0, key, 1)) counts[0]!++
      else {
        buckets.look(0, key, 1)
        counts = Array.from({ length: parts }, (_, part) => buckets.outlook(0, part, key, 1, { remaining: 0, retryAt: 0, resetAt: 0 }).remaining)
      }
      if (arena.cells[full] === before) drained[key] = counts
      restore()
    }
    return drained
  }

  return {
    atEnd(view) {
      const drained = drain(view)
      const calls = view.emitted.map((answers, t) => {
        const next = threads[t]![answers.length]
        return { answers: answers as readonly Answer[], cutShort: view.dead[t] && next !== SWEEP ? next : undefined }
      })
      const signature = JSON.stringify([calls, drained, view.tick])
      if (verdicts.has(signature)) return verdicts.get(signature)
      let verdict: string | undefined
      if (!mayBeFull && calls.some(({ answers }) => answers.some(({ call, answer }) => call !== SWEEP && answer === 'full'))) verdict = 'a call found no slot'
      else if (!isSequential(bucket, start, calls, drained, times.slice(0, view.tick + 1))) verdict = `no order of the calls explains ${signature}`
      verdicts.set(signature, verdict)
      return verdict
    },
    always(nowMs) {
      const live = new Set<string>()
      const { policies } = attached()
      const latestMs = Math.max(...times.slice(0, times.indexOf(nowMs) + 1))
      for (let slot = arena.firstSlot; slot < arena.endSlot; slot += SLOT_BYTES / 8) {
        const seen = arena.words[slot]!
        const hi = core.word.hiOf(seen)
        if (core.word.phaseOf(hi) !== core.word.COMMITTED) continue
        const { terms } = policies.part(core.word.policyIndexOf(hi))
        const [value, reading] = [core.word.valueOf(seen), terms.algorithm.reading(terms, nowMs)]
        if (/token-bucket|fixed-window/.test(terms.algorithm.name) && value > terms.algorithm.reading(terms, latestMs) + terms.ceiling) return `a bucket is charged beyond its burst at ${nowMs} ms`
        // The value of a log does not say that it is full: two slots of one are one too many, full or not.
        if (terms.ringSize === 0 && terms.algorithm.isFull(value, terms, reading, new Float64Array())) continue
        const mask = core.word.maskOf(core.word.generationOf(hi))
        const identity = `${arena.cells[2 * slot + SLOT_IDENTITY0]! ^ mask} ${arena.cells[2 * slot + SLOT_IDENTITY1]! ^ mask}`
        if (live.has(identity)) return `two slots of one key, neither of them full at ${nowMs} ms`
        live.add(identity)
      }
      return undefined
    },
  }
}
