/** Every algorithm, with policies of all sizes and its reference: a new algorithm is one more entry. */
import * as fc from 'fast-check'
import type { Policy } from '../../src/index.ts'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { fixedWindowOracle } from './fixed-window.ts'
import type { Oracle } from './oracle.ts'
import { tokenBucketOracle } from './token-bucket.ts'

/** A policy, with what a timeline needs to know of it. */
export interface Trial {
  readonly policy: Policy
  /** The most that one call may spend. */
  readonly burst: number
  /** The time in which the interesting things happen. */
  readonly periodMs: number
  readonly oracle: (startMs: number) => Oracle
}

export interface Entry {
  readonly name: Policy['algorithm']
  readonly trial: fc.Arbitrary<Trial>
}

const whole = (min: number, max: number) => fc.integer({ min, max })
/** Mostly everyday periods, and others whose common divisor with the limit is small. */
const periodMs = fc.oneof(fc.constantFrom(1, 10, 1_000, 60_000, 3_600_000, 86_400_000), whole(1, 100), whole(1, 5_000_000))
const limit = fc.oneof(whole(0, 10), whole(1, 1_000), whole(1, 17_000))

export const registry: readonly Entry[] = [
  {
    name: 'token-bucket',
    trial: fc.record({ limit, periodMs, burst: fc.option(fc.oneof(whole(0, 10), whole(1, 100_000)), { nil: undefined }) }).map((numbers) => {
      const { burst, ...line } = numbers
      const policy = tokenBucket(burst === undefined ? line : { ...line, burst })
      return { policy, burst: policy.burst, periodMs: policy.periodMs, oracle: (startMs) => tokenBucketOracle(policy, startMs) }
    }),
  },
  {
    name: 'fixed-window',
    trial: fc.record({ limit, windowMs: periodMs }).map((numbers) => {
      const policy = fixedWindow(numbers)
      return { policy, burst: policy.limit, periodMs: policy.windowMs, oracle: (startMs) => fixedWindowOracle(policy, startMs) }
    }),
  },
]
