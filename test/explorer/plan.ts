/** Models of the real modules: threads that spend keys of one arena and sweep it, and what must hold. */
import type { Actor, World } from './actor.ts'
import { Cast } from './actor.ts'
import type { Core } from './core.ts'
import type { Checks, View } from './explorer.ts'
import type { Answer } from './oracle.ts'
import { after, isSequential, log, tokens } from './oracle.ts'
import type { Model } from './world.ts'
import { HEADER, SLOT_BYTES, SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY, TALLY_LINES, TALLY_OFFSET, LINE_BYTES } from '../../src/memory/layout.ts'

/** Frees full slots instead of spending. */
export const SWEEP = '~sweep'

export interface Plan extends Pick<Model, 'kills' | 'timeouts' | 'plain' | 'preemptions'> {
  /** One bucket of as many slots; above 8, two buckets of 8. */
  readonly slots: number
  readonly mutex?: boolean
  /** Tokens at most, each of which takes 10 ms; of a log, calls in any 10 ms. */
  readonly burst: number
  readonly log?: boolean
  /** Spends made before, one thread after another: reading and key. */
  readonly before?: readonly (readonly [ms: number, key: string])[]
  /** For each thread the keys it spends, in order; with a minus before it, a key is refunded. */
  readonly threads: readonly (readonly string[])[]
  readonly times: readonly number[]
  /** True where a thread may find no slot; else that is a fault. */
  readonly mayBeFull?: boolean
  /** True for threads that keep their near cache from call to call; else each call begins without one. */
  readonly cached?: boolean
}

const EMISSION_MS = 10
const BORN_MS = 0

export interface Built {
  readonly model: Model
  readonly checks: Checks
}

export function build(core: Core, plan: Plan): Built {
  const { slots, mutex = false, burst, before = [], threads, times } = plan
  const policy = plan.log === true
    ? ({ algorithm: 'sliding-window-log', limit: burst, windowMs: EMISSION_MS } as const)
    : ({ algorithm: 'token-bucket', limit: 1, periodMs: EMISSION_MS, burst } as const)
  const arena = core.Arena.create({
    maxKeys: slots,
    mutex,
    allowWhenFull: false,
    lockTimeoutMs: 1,
    bornMs: BORN_MS,
    tiers: new Map([['default', policy]]),
  })
  // One seed, so that every run meets the same states.
  arena.cells.fill(1, HEADER.seed0, HEADER.seed1 + 1)
  for (const [ms, key] of before) new core.Buckets(arena, { nowMs: () => ms }).spend(0, key, 1)

  const { buffer } = arena
  const model: Model = {
    ...plan,
    buffer,
    shared: [{ from: arena.firstSlot * 8, to: buffer.byteLength }],
    own: [{ from: TALLY_OFFSET, to: TALLY_OFFSET + TALLY_LINES * LINE_BYTES }],
    actors: threads.map((calls, ticket) => {
      const own = Cast.over(buffer, () => core.Arena.open(buffer, ['default']))
      Object.assign(own, { takeTicket: () => ticket })
      return thread(core, own, ticket, calls, plan.cached ?? false)
    }),
    times,
  }
  return { model, checks: checksOf(core, arena, plan) }
}

function thread(core: Core, arena: Core['Arena']['prototype'], ticket: number, calls: readonly string[], cached: boolean): Actor {
  const fullCount = TALLY_OFFSET / 4 + ticket * (LINE_BYTES / 4) + TALLY.tableFull
  return (world: World) => {
    let readings: number[] = []
    const clock = {
      nowMs: () => {
        const ms = world.nowMs()
        if (!readings.includes(ms)) readings.push(ms)
        return ms
      },
    }
    let buckets: Core['Buckets']['prototype'] | undefined
    for (const key of calls) {
      readings = []
      if (!cached || buckets === undefined) buckets = new core.Buckets(arena, clock)
      if (key === SWEEP) {
        buckets.sweep()
        world.emit({ call: key, answer: 'full', readings: [] } satisfies Answer)
      } else if (key.startsWith('-')) {
        buckets.refund(0, key.slice(1), 1)
        world.emit({ call: key, answer: true, readings } satisfies Answer)
      } else {
        const full = arena.cells[fullCount]
        const allowed = buckets.spend(0, key, 1)
        const answer = arena.cells[fullCount] === full ? allowed : 'full'
        world.emit({ call: key, answer, readings } satisfies Answer)
      }
      if (!cached) world.checkpoint('')
    }
  }
}

function checksOf(core: Core, arena: Core['Arena']['prototype'], plan: Plan): Checks {
  const { burst, before = [], threads, times, mayBeFull = false } = plan
  const bucket = plan.log === true ? log(burst, EMISSION_MS) : tokens(burst, EMISSION_MS)
  const keys = [...new Set([...before.map(([, key]) => key), ...threads.flat()])].filter((key) => key !== SWEEP && !key.startsWith('-'))
  let start: Parameters<typeof isSequential>[1] = {}
  for (const [ms, key] of before) start = after(bucket, start, key, ms)!
  const verdicts = new Map<string, string | undefined>()
  const drains = new Map<string, Record<string, number>>()

  /** Tokens that each key still has, by spending them; a key that finds no slot is left out. */
  function drain({ nowMs, tick, memory, restore }: View): Record<string, number> {
    const at = `${memory} ${tick}`
    const known = drains.get(at)
    if (known !== undefined) return known
    const drained: Record<string, number> = {}
    drains.set(at, drained)
    for (const key of keys) {
      // A dead thread's lock is broken by a time-out, which would cost time here.
      arena.cells.fill(0, arena.firstLock)
      const full = TALLY_OFFSET / 4 + TALLY.tableFull
      arena.takeTicket = () => 0
      const buckets = new core.Buckets(arena, { nowMs: () => nowMs })
      const before = arena.cells[full]
      let count = 0
      while (count <= burst + 4 && buckets.spend(0, key, 1)) count++
      if (arena.cells[full] === before) drained[key] = count
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
      for (let slot = arena.firstSlot; slot < arena.endSlot; slot += SLOT_BYTES / 8) {
        const seen = arena.words[slot]!
        const hi = core.word.hiOf(seen)
        if (core.word.phaseOf(hi) !== core.word.COMMITTED) continue
        const { terms } = arena.policies.part(core.word.policyIndexOf(hi))
        // The value of a log is not a time: two slots of one are one too many, full or not.
        if (terms.ringSize === 0 && core.word.valueOf(seen) <= terms.algorithm.reading(terms, nowMs)) continue
        const mask = core.word.maskOf(core.word.generationOf(hi))
        const identity = `${arena.cells[2 * slot + SLOT_IDENTITY0]! ^ mask} ${arena.cells[2 * slot + SLOT_IDENTITY1]! ^ mask}`
        if (live.has(identity)) return `two slots of one key, neither of them full at ${nowMs} ms`
        live.add(identity)
      }
      return undefined
    },
  }
}
