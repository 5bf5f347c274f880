/** Settings at the edge: zero is zero, and what means nothing is refused (G13). */
import { describe, expect, it } from 'vitest'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const DAY = 86_400_000

describe.each(engines)('%s', (sync) => {
  // https://github.com/golang/go/issues/39984
  it('CF-01: no refill is no pass: limit 0 denies always, with any burst, and the wait is never', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 0, periodMs: 1_000, burst: 1 }))
    for (const ms of [0, 1, DAY, 365 * DAY]) {
      clock.set(ms)
      expect(limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: Infinity })
      limiter.sweep()
    }
    expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 4, keys: 0 })
  })

  // https://github.com/spring-cloud/spring-cloud-gateway/issues/168
  it('CF-02: a burst of 0 denies all, for ever', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 0 }))
    for (const ms of [0, 10_000]) {
      clock.set(ms)
      expect(admitted(limiter, 'k', 100)).toBe(0)
      expect(limiter.consume('k')).toMatchObject({ remaining: 0, retryAfterMs: Infinity })
    }
  })

  // https://github.com/express-rate-limit/express-rate-limit/pull/380
  it('CF-03: limit 0 blocks all, limit Infinity is refused', () => {
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 0, windowMs: 1_000 }))
    for (const ms of [0, 1_000, 1_001]) {
      clock.set(ms)
      expect(limiter.consume('k')).toMatchObject({ allowed: false, limit: 0, remaining: 0, retryAfterMs: Infinity })
    }
    expect(() => fixedWindow({ limit: Infinity, windowMs: 1_000 })).toThrow(RangeError)
  })
})

// https://github.com/wheels-dev/wheels/issues/2693
it.each([0, -1, NaN, Infinity, '60000', undefined])('CF-04: a window of %s is refused at construction, by name', (ms) => {
  const refusal = (field: string) => expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY', message: expect.stringContaining(field) })
  expect(() => fixedWindow({ limit: 1, windowMs: ms as number })).toThrow(refusal('windowMs'))
  expect(() => tokenBucket({ limit: 1, periodMs: ms as number })).toThrow(refusal('periodMs'))
})
