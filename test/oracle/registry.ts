/** Every algorithm, with policies of all sizes and its reference: a new algorithm is one more entry. */
import * as fc from 'fast-check'
import type { Policy, SimplePolicy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { allOfOracle } from './all-of.ts'
import { fixedWindowOracle } from './fixed-window.ts'
import type { Oracle } from './oracle.ts'
import { anchoredWindowOracle, slidingWindowCounterOracle, slidingWindowLogOracle } from './sliding-windows.ts'
import { tokenBucketOracle } from './token-bucket.ts'

/** A policy, with what a timeline needs to know of it. */
export interface Trial<P extends Policy = Policy> {
  readonly policy: P
  readonly limit: number
  /** The most that one call may spend. */
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

const tokenBuckets: fc.Arbitrary<Trial<SimplePolicy>> = fc
  .record({ limit, periodMs, burst: fc.option(fc.oneof(whole(0, 10), whole(1, 100_000)), { nil: undefined }) })
  .map(({ burst, ...line }) => {
    const policy = tokenBucket(burst === undefined ? line : { ...line, burst })
    return { ...line, policy, burst: policy.burst, slots: 1, oracle: (startMs) => tokenBucketOracle(policy, startMs) }
  })

interface Window {
  readonly limit: number
  readonly windowMs: number
}

/** Trials of a kind of window; numbers that it refuses are drawn anew. */
function windows<P extends SimplePolicy & Window>(
  limits: fc.Arbitrary<number>,
  make: (window: Window) => P,
  oracle: (policy: P, startMs: number) => Oracle,
): fc.Arbitrary<Trial<SimplePolicy>> {
  const taken = (window: Window): boolean => {
    try {
      make(window)
      return true
    } catch {
      return false
    }
  }
  return fc
    .record({ limit: limits, windowMs: periodMs })
    .filter(taken)
    .map((window) => {
      const policy = make(window)
      const { limit: burst, windowMs } = window
      return { policy, limit: burst, burst, periodMs: windowMs, slots: 1, oracle: (startMs) => oracle(policy, startMs) }
    })
}

const fixedWindows = windows(limit, fixedWindow, fixedWindowOracle)
const anchoredWindows = windows(limit, (window) => fixedWindow({ ...window, anchored: 'first' }), anchoredWindowOracle)
const slidingCounters = windows(fc.oneof(whole(0, 10), whole(1, 1_000)), slidingWindowCounter, slidingWindowCounterOracle)
const slidingLogs = windows(fc.oneof(whole(0, 10), whole(0, 60)), slidingWindowLog, slidingWindowLogOracle)

const simple = fc.oneof(tokenBuckets, fixedWindows, anchoredWindows, slidingCounters, slidingLogs)
const composites: fc.Arbitrary<Trial> = fc.array(simple, { minLength: 2, maxLength: 4 }).map((parts) => ({
  policy: allOf(...parts.map(({ policy }) => policy)),
  limit: Math.min(...parts.map((part) => part.limit)),
  burst: Math.min(...parts.map((part) => (part.limit === 0 ? 0 : part.burst))),
  periodMs: Math.max(...parts.map((part) => part.periodMs)),
  slots: parts.length,
  oracle: (startMs) => allOfOracle(parts.map((part) => part.oracle(startMs))),
}))

export const registry: readonly Entry[] = [
  { name: 'token-bucket', trial: tokenBuckets },
  { name: 'fixed-window', trial: fixedWindows },
  { name: 'fixed-window, anchored at the first request', trial: anchoredWindows },
  { name: 'sliding-window-counter', trial: slidingCounters },
  { name: 'sliding-window-log', trial: slidingLogs },
  { name: 'all-of', trial: composites },
]
