/** Limits that change while they are in use. */
// RC-01: https://github.com/scality/cloudserver/pull/6046
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, RateLimiter, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const windowMs = 60_000
const makers: [name: string, make: (limit: number) => Policy][] = [
  ['token bucket', (limit) => tokenBucket({ limit, periodMs: windowMs })],
  ['fixed window', (limit) => fixedWindow({ limit, windowMs })],
  ['anchored window', (limit) => fixedWindow({ limit, windowMs, anchored: 'first' })],
  ['sliding window counter', (limit) => slidingWindowCounter({ limit, windowMs })],
  ['allOf', (limit) => allOf(tokenBucket({ limit, periodMs: windowMs }), fixedWindow({ limit: limit * 2, windowMs: 1_000 }))],
]

describe.each(engines)('%s', (sync) => {
  describe.each(makers)('RC-01, %s', (_, make) => {
    it('(a) a full bucket of 100 lowered to 10 passes exactly 10 of 50', () => {
      const { limiter } = bench(sync, make(100))
      expect(limiter.allow('k', 0)).toBe(true)
      limiter.setPolicy('default', make(10))
      expect(admitted(limiter, 'k', 50)).toBe(10)
    })

    it('(b) 30, then 0, then 150: each call obeys the new limit at once', () => {
      const { limiter } = bench(sync, make(30))
      const other = RateLimiter.attach(limiter.handle)
      expect(other.consume('k')).toMatchObject({ allowed: true, limit: 30, remaining: 29 })
      limiter.setPolicy('default', make(0))
      expect(other.consume('k')).toMatchObject({ allowed: false, limit: 0, remaining: 0, retryAfterMs: Infinity })
      limiter.setPolicy('default', make(150))
      expect(other.consume('k')).toMatchObject({ allowed: true, limit: 150, remaining: 149 })
    })

    it('(c) a drained 10 raised to 100 is a drained 100, and half of 10 is half of 100: the fraction that was used is kept', () => {
      const { limiter } = bench(sync, make(10))
      expect([admitted(limiter, 'drained', 20), admitted(limiter, 'half', 5)]).toEqual([10, 5])
      limiter.setPolicy('default', make(100))
      expect([admitted(limiter, 'drained', 200), admitted(limiter, 'half', 200)]).toEqual([0, 50])
    })

    it('(c) a third of 9 used is one of 2, rounded up: remaining is never above the new limit', () => {
      const { limiter } = bench(sync, make(9))
      expect(admitted(limiter, 'k', 3)).toBe(3)
      limiter.setPolicy('default', make(2))
      expect(limiter.peek('k').remaining).toBe(1)
    })
  })

  it('RC-01: a log takes another window and refuses another limit by name; what it holds counts by the new window', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit: 10, windowMs: 1_000 }))
    expect(admitted(limiter, 'k', 20)).toBe(10)
    const refused = expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY', message: expect.stringContaining('limit') })
    expect(() => limiter.setPolicy('default', slidingWindowLog({ limit: 11, windowMs: 1_000 }))).toThrow(refused)
    clock.set(500)
    limiter.setPolicy('default', slidingWindowLog({ limit: 10, windowMs: 2_000 }))
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 1_500 })
    limiter.setPolicy('default', slidingWindowLog({ limit: 10, windowMs: 500 }))
    expect(admitted(limiter, 'k', 20)).toBe(10)
  })

  it('another algorithm, or another number of parts, is refused and changes nothing', () => {
    const { limiter } = bench(sync, allOf(tokenBucket({ limit: 5, periodMs: 1_000 }), fixedWindow({ limit: 9, windowMs })))
    const refused = expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY' })
    for (const [, make] of makers.slice(0, 4)) expect(() => limiter.setPolicy('default', make(5))).toThrow(refused)
    expect(() => limiter.setPolicy('default', allOf(fixedWindow({ limit: 9, windowMs }), tokenBucket({ limit: 5, periodMs: 1_000 })))).toThrow(refused)
    expect(admitted(limiter, 'k', 20)).toBe(5)
  })
})
