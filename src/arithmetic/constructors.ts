/** The functions by which users write policies. */
import { wrongType } from '../errors.ts'
import { policyOf, termsOf } from './compile.ts'
import type { FixedWindowPolicy, Policy, SimplePolicy, SlidingWindowCounterPolicy, SlidingWindowLogPolicy, TokenBucketPolicy } from './policy.ts'

function checked<P extends Policy>(name: string, algorithm: P['algorithm'], options: unknown): P {
  if (typeof options !== 'object' || options === null) {
    throw wrongType('ERR_HOTBUCKET_POLICY', `the argument of ${name}`, options, 'an object')
  }
  return policyOf(termsOf({ ...options, algorithm }, 0)) as P
}

/**
 * A token bucket: `limit` cost units per `periodMs` milliseconds, refilled continuously, `burst` at most at once
 * (`limit` by default). Limit 0 denies always.
 *
 * `limit` and `burst` are whole, 0 to 2^31 - 1; `periodMs` is finite and above 0; a policy whose state would wear
 * its word out within a year is refused. Throws `RangeError` ERR_HOTBUCKET_POLICY. Pure; safe anywhere.
 */
export function tokenBucket(options: { limit: number; periodMs: number; burst?: number }): TokenBucketPolicy {
  return checked('tokenBucket', 'token-bucket', options)
}

/**
 * A fixed window: `limit` cost units in each window of `windowMs` milliseconds. Windows begin at multiples of
 * `windowMs` on the clock, or with `anchored: 'first'` at a key's first request. Up to twice the limit may pass
 * around an edge. Limit 0 denies always. Ranges and errors as for `tokenBucket`. Pure; safe anywhere.
 */
export function fixedWindow(options: { limit: number; windowMs: number; anchored?: 'first' }): FixedWindowPolicy {
  return checked('fixedWindow', 'fixed-window', options)
}

/**
 * A sliding window counter: `limit` cost units in about any `windowMs` milliseconds, estimated from the count of
 * this window and that of the one before, weighted by overlap. Off where requests were uneven: mostly by a few percent, at worst almost twice the limit.
 * Limit 0 denies always. Ranges and errors as for `tokenBucket`. Pure; safe anywhere.
 */
export function slidingWindowCounter(options: { limit: number; windowMs: number }): SlidingWindowCounterPolicy {
  return checked('slidingWindowCounter', 'sliding-window-counter', options)
}

/**
 * A sliding window log: never more than `limit` cost units in any `windowMs` milliseconds. Exact, and paid for with
 * 8 bytes of memory for each unit of `limit` in every slot of the table; `limit` is at most 1,023.
 * Limit 0 denies always. Errors as for `tokenBucket`. Pure; safe anywhere.
 */
export function slidingWindowLog(options: { limit: number; windowMs: number }): SlidingWindowLogPolicy {
  return checked('slidingWindowLog', 'sliding-window-log', options)
}

/**
 * Several limits on one key, 1 to 8: a call is charged to every part, or, where one refuses, to none. A key takes a
 * slot for each part. Throws `RangeError` or `TypeError` ERR_HOTBUCKET_POLICY. Pure; safe anywhere.
 */
export function allOf(...parts: SimplePolicy[]): Policy {
  return policyOf(termsOf({ algorithm: 'all-of', parts }, 0))
}
