/** A policy set by a thread whose reading is older than a bucket: the bucket is not filled by it (G1, G9). */
import { describe, expect, it } from 'vitest'
import { fixedWindow, RateLimiter, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, clockOf, engines } from '../engines.ts'

const subjects = [
  { name: 'token bucket', of: (limit: number) => tokenBucket({ limit, periodMs: 1_000 }), doubled: 2 },
  { name: 'fixed window', of: (limit: number) => fixedWindow({ limit, windowMs: 1_000 }), doubled: 2 },
  { name: 'anchored window', of: (limit: number) => fixedWindow({ limit, windowMs: 1_000, anchored: 'first' }), doubled: 2 },
  { name: 'sliding window counter', of: (limit: number) => slidingWindowCounter({ limit, windowMs: 1_000 }), doubled: 2 },
  { name: 'sliding window log', of: (limit: number) => slidingWindowLog({ limit, windowMs: 1_000 }), doubled: 1 },
] as const

describe.each(engines)('%s', (sync) => {
  it.each(subjects)('$name: a drained bucket stays drained, and comes back no sooner, after a late thread has set the policy', ({ of, doubled }) => {
    const { limiter, clock } = bench(sync, of(8), { startMs: 0 })
    const late = RateLimiter.attach(limiter.handle, { clock: clockOf(() => 100) })
    clock.set(4_000)
    expect(admitted(limiter, 'k', 20)).toBe(8)
    for (const policy of [of(8), of(8 * doubled), of(8)]) {
      const before = limiter.peek('k').resetAfterMs
      late.setPolicy('default', policy)
      expect(limiter.peek('k')).toMatchObject({ allowed: false, remaining: 0 })
      expect(limiter.peek('k').resetAfterMs).toBeGreaterThanOrEqual(before)
    }
    clock.advance(500)
    const most = limiter.peek('k').remaining
    late.setPolicy('default', of(8))
    expect(limiter.peek('k').remaining).toBeLessThanOrEqual(most)
    clock.advance(4_000)
    expect(admitted(limiter, 'k', 20)).toBe(8)
  })
})
