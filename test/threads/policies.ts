/** A policy of every algorithm, and of allOf, with one limit in common: what the threads' tests go through. */
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'

export interface Named {
  readonly name: string
  readonly policy: Policy
}

export function policiesOf(limit: number, windowMs: number): readonly Named[] {
  return [
    { name: 'token bucket', policy: tokenBucket({ limit, periodMs: windowMs }) },
    { name: 'fixed window', policy: fixedWindow({ limit, windowMs }) },
    { name: 'anchored window', policy: fixedWindow({ limit, windowMs, anchored: 'first' }) },
    { name: 'sliding window counter', policy: slidingWindowCounter({ limit, windowMs }) },
    { name: 'sliding window log', policy: slidingWindowLog({ limit, windowMs }) },
    ...combinations(limit, windowMs),
  ]
}

/** The part with the least limit is the first, in the middle, and the last. */
function combinations(limit: number, windowMs: number): Named[] {
  const [bucket, log] = [tokenBucket({ limit: limit + 3, periodMs: windowMs }), slidingWindowLog({ limit: limit + 1, windowMs })]
  const window = fixedWindow({ limit, windowMs: windowMs * 10 })
  return [
    { name: 'allOf, the least first', policy: allOf(window, bucket, log) },
    { name: 'allOf, the least between', policy: allOf(bucket, window, log) },
    { name: 'allOf, the least last', policy: allOf(log, bucket, window) },
  ]
}
