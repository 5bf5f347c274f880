/** One thread of a plan: its calls, one after another, on an arena of its own over the shared buffer. */
import type { Actor, World } from './actor.ts'
import { Cast } from './actor.ts'
import type { Core } from './core.ts'
import type { Answer } from './oracle.ts'
import { keyOf } from './oracle.ts'
import type { Plan } from './plan.ts'
import { burstsSet, policyOf, SWEEP } from './plan.ts'
import { LINE_BYTES, TALLY, TALLY_OFFSET } from '../../src/memory/layout.ts'

export function thread(core: Core, arena: Core['Arena']['prototype'], ticket: number, plan: Plan): Actor {
  const fullCount = TALLY_OFFSET / 4 + ticket * (LINE_BYTES / 4) + TALLY.tableFull
  const changes = burstsSet(plan).length > 0
  Object.assign(arena, { takeTicket: () => ticket })

  return (world: World) => {
    let readings: number[] = []
    const clock = {
      nowMs: () => {
        const ms = plan.late?.[ticket] ?? world.nowMs()
        if (!readings.includes(ms)) readings.push(ms)
        return ms
      },
    }
    /** What a thread knows when it attaches: of the policies too, where they change. */
    function attach(): Core['Buckets']['prototype'] {
      if (changes) Object.assign(arena, { policies: Cast.over(arena.buffer, () => new core.PolicyTable(arena.buffer)) })
      return new core.Buckets(arena, clock)
    }
    function answer(buckets: Core['Buckets']['prototype'], call: string): Answer['answer'] {
      if (call === SWEEP) {
        buckets.sweep()
        return 'full'
      }
      if (call.startsWith('=')) buckets.setPolicy(0, core.termsOf(policyOf(plan, Number(call.slice(1))), arena.bornMs))
      else if (/^[-!]/.test(call)) buckets.refund(0, keyOf(call), call.startsWith('!') ? Number.MAX_SAFE_INTEGER : 1)
      else {
        const full = arena.cells[fullCount]
        const allowed = buckets.spend(0, keyOf(call), call.startsWith('2') ? 2 : 1)
        return arena.cells[fullCount] === full ? allowed : 'full'
      }
      return true
    }

    let buckets: Core['Buckets']['prototype'] | undefined
    for (const call of plan.threads[ticket]!.slice(world.from?.emitted ?? 0)) {
      readings = []
      if (plan.cached !== true || buckets === undefined) buckets = attach()
      world.emit({ call, answer: answer(buckets, call), readings } satisfies Answer)
      if (plan.cached !== true) world.checkpoint('')
    }
  }
}
