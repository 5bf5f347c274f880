/** The wait that is told is the wait there is (G10). */
import { describe, expect, it } from 'vitest'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const MONTH = 30 * 86_400_000

describe.each(engines)('%s', (sync) => {
  // https://github.com/benwis/tower-governor/issues/65
  it('RA-01: a wait below a second is told in milliseconds: 200', () => {
    const { limiter } = bench(sync, tokenBucket({ limit: 5, periodMs: 1_000, burst: 1 }))
    expect(limiter.allow('k')).toBe(true)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 200 })
  })

  // https://github.com/bucket4j/bucket4j/issues/88
  it('RA-03: the wait is for what is missing: 800 of burst 1; 1,000, 800 and 9,800 of burst 10', () => {
    const one = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 1 }))
    expect(one.limiter.allow('k')).toBe(true)
    one.clock.set(200)
    expect(one.limiter.consume('k').retryAfterMs).toBe(800)

    const ten = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 10 }))
    expect(admitted(ten.limiter, 'k', 10)).toBe(10)
    const waits = [ten.limiter.consume('k').retryAfterMs]
    ten.clock.set(200)
    waits.push(ten.limiter.consume('k').retryAfterMs, ten.limiter.consume('k', 10).retryAfterMs)
    expect(waits).toEqual([1_000, 800, 9_800])
  })

  // https://github.com/symfony/symfony/pull/63492
  it('RA-06: the call that takes the last token tells the wait of the next, not 0', () => {
    const bucket = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000 })).limiter
    expect(bucket.consume('k')).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: 1_000, resetAfterMs: 1_000 })
    const window = bench(sync, fixedWindow({ limit: 1, windowMs: 60_000 })).limiter
    expect(window.consume('k')).toMatchObject({ allowed: true, remaining: 0, retryAfterMs: 60_000, resetAfterMs: 60_000 })
  })

  // https://github.com/koajs/ratelimit/issues/48
  it('RA-09: a wait of 30 days is 2,592,000,000 ms, on a clock that counts from 1970', () => {
    const { limiter } = bench(sync, fixedWindow({ limit: 1, windowMs: MONTH }), { startMs: 680 * MONTH })
    expect(limiter.allow('k')).toBe(true)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 2_592_000_000, resetAfterMs: 2_592_000_000 })
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/173
  it('HH-05: remaining is whole, never below 0, and at least 1 exactly when a call of cost 1 would pass', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 10, periodMs: 60_000 }))
    expect(limiter.consume('k').remaining).toBe(9)
    clock.set(3_500)
    expect(limiter.consume('k').remaining).toBe(8)
    for (let call = 0; call < 58; call++) {
      const promised = limiter.peek('k').remaining >= 1
      const { allowed, remaining } = limiter.consume('k')
      expect([allowed, Number.isInteger(remaining)]).toEqual([promised, true])
      if (call >= 8) expect(remaining).toBe(0)
    }
  })
})
