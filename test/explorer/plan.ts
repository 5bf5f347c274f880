/** Models of the real modules: threads that spend keys of one arena, sweep it and set its policy. */
import { Cast } from './actor.ts'
import { checksOf } from './checks.ts'
import type { Core } from './core.ts'
import type { Checks } from './explorer.ts'
import type { ByteRange } from './machine.ts'
import type { Bucket } from './oracle.ts'
import { both, counter, fixed, log, tokens } from './oracle.ts'
import { thread } from './thread.ts'
import type { Model } from './world.ts'
import type { Policy } from '../../src/arithmetic/policy.ts'
import { HEADER, LINE_BYTES, POLICY_BYTES, POLICY_OFFSET, TALLY_LINES, TALLY_OFFSET, TIER_MAP } from '../../src/memory/layout.ts'

/** Frees full slots instead of spending. */
export const SWEEP = '~sweep'

export interface Plan extends Pick<Model, 'kills' | 'mortal' | 'timeouts' | 'plain' | 'preemptions'> {
  /** One bucket of as many slots; above 8, two buckets of 8. Twice as many where a key has two. */
  readonly slots: number
  readonly mutex?: boolean
  /** A token bucket if left out; `both` is one and then a fixed window, `window-first` the other way round. */
  readonly algorithm?: 'log' | 'counter' | 'both' | 'window-first'
  /** Tokens at most, each of which takes 10 ms; of a window, calls in any 10 ms. */
  readonly burst: number
  /** Of two parts: the calls in each window of 10 ms. */
  readonly windowLimit?: number
  /** Spends made before, one thread after another: reading and key. */
  readonly before?: readonly (readonly [ms: number, key: string])[]
  /**
   * For each thread its calls, in order: `x` spends the key x, `2x` two units of it, `-x` gives one back to it, `!x` resets it, `=4` sets
   * the policy to a burst of 4.
   */
  readonly threads: readonly (readonly string[])[]
  readonly times: readonly number[]
  /** Threads for which the clock stands, and the reading at which it does. */
  readonly late?: Readonly<Record<number, number>>
  /** True where a thread may find no slot; else that is a fault. */
  readonly mayBeFull?: boolean
  /** True for threads that keep their near cache from call to call; else each call begins without one. */
  readonly cached?: boolean
}

const PERIOD_MS = 10
const BORN_MS = 0

export interface Built {
  readonly model: Model
  readonly checks: Checks
}

/** The policy of a plan with another burst, as users write it. */
export function policyOf({ algorithm, windowLimit = 0 }: Plan, burst: number): Policy {
  const bucket = { algorithm: 'token-bucket', limit: 1, periodMs: PERIOD_MS, burst } as const
  const window = { algorithm: 'fixed-window', limit: windowLimit, windowMs: PERIOD_MS } as const
  switch (algorithm) {
    case 'log':
      return { algorithm: 'sliding-window-log', limit: burst, windowMs: PERIOD_MS }
    case 'counter':
      return { algorithm: 'sliding-window-counter', limit: burst, windowMs: PERIOD_MS }
    case 'both':
      return { algorithm: 'all-of', parts: [bucket, window] }
    case 'window-first':
      return { algorithm: 'all-of', parts: [window, bucket] }
    default:
      return bucket
  }
}

/** What the plan's policy means. */
export function bucketOf({ algorithm, burst, windowLimit = 0, times }: Plan): Bucket {
  const [bucket, window] = [tokens(burst, PERIOD_MS), fixed(windowLimit, PERIOD_MS)]
  switch (algorithm) {
    case 'log':
      return log(burst, PERIOD_MS)
    case 'counter':
      return counter(burst, PERIOD_MS)
    case 'both':
      return both(bucket, window, times.length > 1)
    case 'window-first':
      return both(window, bucket, times.length > 1)
    default:
      return bucket
  }
}

/** The bursts that threads set. */
export function burstsSet({ threads }: Plan): number[] {
  return threads.flat().filter((call) => call.startsWith('=')).map((call) => Number(call.slice(1)))
}

/** Where policies are kept, up to the entries that as many changes take; nothing where none is made. */
function policyRanges(changes: number): ByteRange[] {
  if (changes === 0) return []
  const cell = (index: number): ByteRange => ({ from: 4 * index, to: 4 * index + 4 })
  const entry = (index: number): number => POLICY_OFFSET + index * POLICY_BYTES
  return [cell(HEADER.policyVersion), cell(HEADER.policiesTaken), cell(TIER_MAP), { from: entry(2), to: entry(2 + changes) }]
}

export function build(core: Core, plan: Plan): Built {
  const { slots, mutex = false, burst, before = [], threads, times } = plan
  const arena = core.Arena.create({
    maxKeys: slots,
    mutex,
    allowWhenFull: false,
    lockTimeoutMs: 1,
    bornMs: BORN_MS,
    tiers: new Map([['default', policyOf(plan, burst)]]),
  })
  // One seed, so that every run meets the same states.
  arena.cells.fill(1, HEADER.seed0, HEADER.seed1 + 1)
  for (const [ms, key] of before) new core.Buckets(arena, { nowMs: () => ms }).spend(0, key, 1)

  const { buffer } = arena
  const model: Model = {
    ...plan,
    buffer,
    shared: [...policyRanges(burstsSet(plan).length), { from: arena.firstSlot * 8, to: buffer.byteLength }],
    own: [{ from: TALLY_OFFSET, to: TALLY_OFFSET + TALLY_LINES * LINE_BYTES }],
    actors: threads.map((_, ticket) => {
      const own = Cast.over(buffer, () => core.Arena.open(buffer, ['default']))
      return thread(core, own, ticket, plan)
    }),
    times,
  }
  return { model, checks: checksOf(core, arena, plan) }
}
