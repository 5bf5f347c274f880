/** Numbers that outgrow their fields: refused at the door or exact, never wrapped (G9, G11, G13). */
import { describe, expect, it } from 'vitest'
import { fixedWindow, RateLimiter, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe.each(engines)('%s', (sync) => {
  // https://github.com/bucket4j/bucket4j/issues/51
  it('OV-01: any long idle time gives a full bucket, not a negative one (G9)', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1_000_000, periodMs: 1_000 }))
    expect(limiter.allow('k', 1_000_000)).toBe(true)
    for (const ms of [12 * HOUR, 12 * HOUR + 30 * DAY, 12 * HOUR + 330 * DAY]) {
      clock.set(ms)
      expect(limiter.peek('k').remaining).toBe(1_000_000)
      expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 999_999 })
    }
  })

  it('OV-01: an idle time of exactly 2^31 or 2^32 milliseconds, or of 2^32 units, reads as full (G9)', () => {
    // 1 per 1,000 ms makes a unit a microsecond.
    for (const idleMs of [2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, Math.ceil(2 ** 31 / 1_000), Math.ceil(2 ** 32 / 1_000)]) {
      for (const policy of [tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 }), fixedWindow({ limit: 5, windowMs: 1_000 })]) {
        const { limiter, clock } = bench(sync, policy)
        expect(admitted(limiter, 'k', 10)).toBe(5)
        clock.advance(idleMs)
        expect(limiter.peek('k').resetAfterMs).toBe(0)
        expect(admitted(limiter, 'k', 10)).toBe(5)
      }
    }
  })

  // https://github.com/rclone/rclone/issues/9820
  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 5, 3_355_443_200, 2 ** 53, 2 ** 53 + 2])('OV-03: a capacity of %d is refused, naming the greatest, or exact (G13)', (burst) => {
    for (const periodMs of [1, 1_000]) {
      let policy
      try {
        policy = tokenBucket({ limit: 1, periodMs, burst })
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
        expect(error).toMatchObject({ code: 'ERR_HOTBUCKET_POLICY', message: expect.stringMatching(/^burst must be a whole number from 0 to \d+/) })
        // The greatest that it names works, to the last token.
        const most = Number(/from 0 to (\d+)/.exec((error as Error).message)![1])
        expect(most).toBeLessThan(burst)
        if (most < 2 ** 31 - 1) policy = tokenBucket({ limit: 1, periodMs, burst: most })
      }
      if (policy === undefined) continue
      const { limiter } = bench(sync, policy)
      expect(limiter.allow('k', policy.burst)).toBe(true)
      expect(limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0 })
      expect(admitted(limiter, 'fresh', 10)).toBe(10)
    }
  })

  // https://github.com/google/guava/issues/2231
  it('OV-05: a rate too small for the word is refused; the smallest that is taken refuses the second request', () => {
    for (const perSecond of [5e-324, 1e-13]) {
      expect(() => tokenBucket({ limit: 1, periodMs: 1_000 / perSecond })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY' }))
    }
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 10_000_000 }))
    expect(limiter.allow('k')).toBe(true)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 10_000_000 })
    clock.set(5_000)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 9_995_000 })
  })

  // https://github.com/express-rate-limit/express-rate-limit/issues/546
  it('OV-06: a window of a year stays shut to its last millisecond, and sets no timer', () => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 5, windowMs: 365 * DAY }))
    expect(admitted(limiter, 'k', 6)).toBe(5)
    for (const ms of [1, 50, 24.9 * DAY, 364.9 * DAY, 365 * DAY - 1]) {
      clock.set(ms)
      expect(limiter.allow('k')).toBe(false)
    }
    clock.set(365 * DAY)
    expect(limiter.allow('k')).toBe(true)
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')).toHaveLength(timers)
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

// https://github.com/apache/pulsar/pull/25262
it('OV-02: a rate too steep for the word is refused with its range; the steepest that fits is exact half-way', () => {
  const make = () => tokenBucket({ limit: 980_000_000, periodMs: 10_000 })
  expect(make).toThrow(RangeError)
  expect(make).toThrow(/limit over periodMs must be at most (\d+) a millisecond.*got 98000$/)
  const policy = tokenBucket({ limit: 170_000_000, periodMs: 10_000 })
  const { limiter, clock } = bench('cas', policy)
  expect(limiter.allow('k', 170_000_000)).toBe(true)
  clock.set(5_000)
  expect(limiter.peek('k', 170_000_000)).toMatchObject({ allowed: false, remaining: 85_000_000, retryAfterMs: 5_000 })
  clock.set(10_000)
  expect(limiter.peek('k').remaining).toBe(170_000_000)
})

it('OV-03: a limiter refuses what tokenBucket refuses, however the policy was made', () => {
  const policy = { ...tokenBucket({ limit: 5, periodMs: 1_000 }), burst: 2 ** 32 + 5 }
  expect(() => new RateLimiter({ policy })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY' }))
})
