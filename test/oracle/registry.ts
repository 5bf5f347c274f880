/** Every algorithm, with policies of all sizes and its reference: a new algorithm is one more entry. */
import * as fc from 'fast-check'
import type { Policy, SimplePolicy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { allOfOracle } from './all-of.ts'
import { fixedWindowOracle } from './fixed-window.ts'
import type { Oracle, OracleOf } from './oracle.ts'
import { slidingWindowCounterOracle } from './sliding-window-counter.ts'
import { slidingWindowLogOracle } from './sliding-window-log.ts'
import { tokenBucketOracle } from './token-bucket.ts'

/** A policy, with what a timeline needs to know of it. */
export interface Trial<P extends Policy = Policy> {
  readonly policy: P
  /** Three policies that a tier may change between, `policy` the first. */
  readonly policies: readonly P[]
  /** Sustained allowance a period; of several limits, the least. */
  readonly limit: number
  /** The most that one call may ever spend. */
  readonly burst: number
  /** The time in which the interesting things happen. */
  readonly periodMs: number
  /** Slots that a key takes. */
  readonly slots: number
  readonly oracle: (startMs: number) => Oracle
}

export interface Entry {
  readonly name: string
  readonly trial: fc.Arbitrary<Trial>
}

const whole = (min: number, max: number) => fc.integer({ min, max })
/** Mostly everyday periods, and others whose common divisor with the limit is small. */
const periodMs = fc.oneof(fc.constantFrom(1, 10, 1_000, 60_000, 3_600_000, 86_400_000), whole(1, 100), whole(1, 5_000_000))
const limit = fc.oneof(whole(0, 10), whole(1, 1_000), whole(1, 17_000))

function trialOf<P extends SimplePolicy>(policies: readonly P[], oracle: OracleOf<P>): Trial<P> {
  const policy = policies[0]!
  const most = 'burst' in policy ? policy.burst : policy.limit
  return {
    policy,
    policies,
    limit: policy.limit,
    burst: policy.limit === 0 ? 0 : most,
    periodMs: 'periodMs' in policy ? policy.periodMs : policy.windowMs,
    slots: 1,
    oracle: (startMs) => oracle(policy, startMs),
  }
}

function trials<P extends SimplePolicy>(policy: fc.Arbitrary<P>, oracle: OracleOf<P>): fc.Arbitrary<Trial<P>> {
  return fc.tuple(policy, policy, policy).map((policies) => trialOf(policies, oracle))
}

const tokenBuckets = trials(
  fc.record({ limit, periodMs, burst: fc.option(fc.oneof(whole(0, 10), whole(1, 100_000)), { nil: undefined }) }).map(({ burst, ...line }) => tokenBucket(burst === undefined ? line : { ...line, burst })),
  tokenBucketOracle,
)
const fixedWindows = trials(fc.record({ limit, windowMs: periodMs }).map(fixedWindow), fixedWindowOracle)
const anchoredWindows = trials(
  fc.record({ limit, windowMs: periodMs }).map((numbers) => fixedWindow({ ...numbers, anchored: 'first' })),
  fixedWindowOracle,
)

/** The greatest limit of a counter of this window whose cell lasts for a leap year. */
const mostOfCounter = (windowMs: number): number => Math.floor(Math.sqrt(2 ** 49 / ((366 * 86_400_000) / windowMs + 2))) - 2
const counters = trials(
  fc.record({ limit, windowMs: periodMs }).map((numbers) => slidingWindowCounter({ ...numbers, limit: Math.min(numbers.limit, mostOfCounter(numbers.windowMs)) })),
  slidingWindowCounterOracle,
)

const logLimit = fc.oneof(whole(0, 10), whole(1, 100), fc.oneof({ weight: 4, arbitrary: whole(1, 30) }, { weight: 1, arbitrary: whole(100, 1_023) }))
/** A log keeps its limit. */
const logs = fc.tuple(logLimit, fc.boolean(), periodMs, periodMs, periodMs).map(([most, changes, ...windows]) => {
  const windowsMs = changes ? windows : windows.map(() => windows[0])
  return trialOf(windowsMs.map((windowMs) => slidingWindowLog({ limit: most, windowMs })), slidingWindowLogOracle)
})

const simple: fc.Arbitrary<Trial<SimplePolicy>> = fc.oneof(tokenBuckets, fixedWindows, anchoredWindows, counters, logs)
const several = fc.array(simple, { minLength: 1, maxLength: 4 }).map((parts): Trial => {
  const policies = parts[0]!.policies.map((_, change) => allOf(...parts.map((part) => part.policies[change]!)))
  return {
    policy: policies[0]!,
    policies,
    limit: Math.min(...parts.map((part) => part.limit)),
    burst: Math.min(...parts.map((part) => part.burst)),
    periodMs: Math.max(...parts.map((part) => part.periodMs)),
    slots: parts.length,
    oracle: (startMs) => allOfOracle(parts.map((part) => part.oracle(startMs))),
  }
})

export const registry: readonly Entry[] = [
  { name: 'token-bucket', trial: tokenBuckets },
  { name: 'fixed-window', trial: fixedWindows },
  { name: 'fixed-window anchored at the first request', trial: anchoredWindows },
  { name: 'sliding-window-counter', trial: counters },
  { name: 'sliding-window-log', trial: logs },
  { name: 'all-of', trial: several },
]
