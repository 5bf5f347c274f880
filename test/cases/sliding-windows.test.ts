/** Field cases of edges, waits and counts, for the sliding windows and the anchored one. */
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

/** Every algorithm with the same limit and window. */
const everyAlgorithm = (limit: number, windowMs: number): [name: string, policy: Policy][] => [
  ['token bucket', tokenBucket({ limit, periodMs: windowMs })],
  ['fixed window', fixedWindow({ limit, windowMs })],
  ['anchored window', fixedWindow({ limit, windowMs, anchored: 'first' })],
  ['sliding window counter', slidingWindowCounter({ limit, windowMs })],
  ['sliding window log', slidingWindowLog({ limit, windowMs })],
]

describe.each(engines)('%s', (sync) => {
  // https://github.com/redisson/redisson/issues/2931
  it.each(everyAlgorithm(10, 60_000))('WE-01: %s passes 10 of 15 at 59,999; at 60,000 ten more only where windows lie on the clock', (name, policy) => {
    const { limiter, clock } = bench(sync, policy, { startMs: 59_999 })
    expect(admitted(limiter, 'k', 15)).toBe(10)
    clock.set(60_000)
    expect(admitted(limiter, 'k', 15)).toBe(name === 'fixed window' ? 10 : 0)
  })

  // https://github.com/mokies/ratelimitj/issues/24
  it.each([slidingWindowLog({ limit: 1, windowMs: 1_000 }), fixedWindow({ limit: 1, windowMs: 1_000, anchored: 'first' })])(
    'WE-02: 1 a second passes at 0, not at 999, passes at 1,000: $algorithm',
    (policy) => {
      const { limiter, clock } = bench(sync, policy)
      expect([0, 999, 1_000].map((ms) => (clock.set(ms), limiter.allow('k')))).toEqual([true, false, true])
    },
  )

  // https://github.com/upstash/ratelimit-js/pull/61
  it('WE-04: remaining of the counter includes the weighted window before: 45 after ten, and exactly 45 pass', () => {
    const { limiter, clock } = bench(sync, slidingWindowCounter({ limit: 100, windowMs: 10_000 }), { startMs: 5_000 })
    expect(admitted(limiter, 'k', 50)).toBe(50)
    clock.set(11_000)
    expect(admitted(limiter, 'k', 10)).toBe(10)
    expect(limiter.peek('k').remaining).toBe(45)
    expect(admitted(limiter, 'k', 100)).toBe(45)
  })

  // https://github.com/OpenMeet-Team/openmeet-api/issues/338
  it('WE-06: hits do not move the end of an anchored window: it is 60,000 after the first for all of them', () => {
    for (const startMs of [0, 12_345]) {
      const { limiter, clock } = bench(sync, fixedWindow({ limit: 5, windowMs: 60_000, anchored: 'first' }), { startMs })
      for (const ms of [0, 15_000, 30_000, 45_000, 59_000]) {
        clock.set(startMs + ms)
        const { allowed, resetAfterMs } = limiter.consume('k')
        expect([allowed, ms + resetAfterMs]).toEqual([true, 60_000])
      }
      clock.set(startMs + 60_000)
      expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 4, resetAfterMs: 60_000 })
    }
  })

  // https://github.com/nestjs/throttler/issues/2208
  it('WE-07: 1,000 refusals do not prolong the refusal by a log: 10, then 0, 1, 0, 1 (G2)', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit: 10, windowMs: 10_000 }))
    for (let ms = 0; ms < 10_000; ms += 1_000) {
      clock.set(ms)
      expect(limiter.allow('k')).toBe(true)
    }
    const passed = [9_500, 10_000, 10_999, 11_000].map((ms) => (clock.set(ms), admitted(limiter, 'k', ms === 9_500 ? 1_000 : 5)))
    expect(passed).toEqual([0, 1, 0, 1])
  })

  // https://github.com/symfony/symfony/issues/40289
  it('RA-05: the wait of the counter is until the weight has decayed, 1,000, not until the window ends, 48,000 (G10)', () => {
    const { limiter, clock } = bench(sync, slidingWindowCounter({ limit: 60, windowMs: 60_000 }))
    expect(admitted(limiter, 'k', 60)).toBe(60)
    clock.set(72_000)
    expect(admitted(limiter, 'k', 60)).toBe(12)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
    clock.set(72_999)
    expect(limiter.allow('k')).toBe(false)
    clock.set(73_000)
    expect(limiter.allow('k')).toBe(true)
  })

  // https://github.com/symfony/symfony/pull/63492
  it.each(everyAlgorithm(1, 60_000))('RA-06: the call that takes the last of a %s tells a wait for the next above 0', (name, policy) => {
    const { limiter } = bench(sync, policy)
    const { allowed, remaining, retryAfterMs, resetAfterMs } = limiter.consume('k')
    expect([allowed, remaining]).toEqual([true, 0])
    // The counter's call weighs on the whole of the next window.
    const wait = name === 'sliding window counter' ? 120_000 : 60_000
    expect([retryAfterMs, resetAfterMs]).toEqual([wait, wait])
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/173
  it.each(everyAlgorithm(10, 60_000))('HH-05: remaining of a %s is whole, never below 0, and at least 1 exactly when a call would pass', (_, policy) => {
    const { limiter, clock } = bench(sync, policy)
    for (let call = 0; call < 200; call++) {
      clock.advance((call * 7_919) % 3_500)
      const { remaining } = limiter.peek('k')
      expect(Number.isInteger(remaining) && remaining >= 0 && remaining <= 10).toBe(true)
      expect(limiter.allow('k')).toBe(remaining >= 1)
    }
    for (let call = 0; call < 50; call++) if (!limiter.allow('k')) expect(limiter.consume('k').remaining).toBe(0)
  })

  // https://github.com/symfony/symfony/pull/63550 and https://github.com/SandeepVashishtha/Eventra/pull/7044
  it.each(everyAlgorithm(10, 60_000))('CV-01, CV-03: a cost that is no whole number from 0 throws in a %s, and 9 are left after cost 1', (_, policy) => {
    const { limiter } = bench(sync, policy)
    expect(limiter.allow('drained', 10)).toBe(true)
    for (const cost of [-1, -5, -0.5, -Infinity, NaN, null, '3', Infinity, 2 ** 53, {}] as unknown as number[]) {
      for (const key of ['fresh', 'drained']) {
        const bad = expect.objectContaining({ code: 'ERR_HOTBUCKET_COST' })
        expect(() => limiter.allow(key, cost)).toThrow(bad)
        expect(() => limiter.consume(key, cost)).toThrow(bad)
        expect(() => limiter.refund(key, cost)).toThrow(bad)
      }
    }
    expect(limiter.consume('fresh', undefined).remaining).toBe(9)
    expect(limiter.allow('drained')).toBe(false)
  })

  // https://github.com/alibaba/Sentinel/issues/462
  it.each(everyAlgorithm(1, 500))('CV-02: any number of calls of cost 0 change nothing in a %s, and leave no slot', (_, policy) => {
    const { limiter, clock } = bench(sync, policy, { maxKeys: 8 })
    expect(limiter.allow('k')).toBe(true)
    const { retryAfterMs } = limiter.peek('k')
    expect(admitted(limiter, 'k', 10_000, 0)).toBe(10_000)
    for (let key = 0; key < 1_000; key++) expect(limiter.consume(`fresh ${key}`, 0).allowed).toBe(true)
    expect(limiter.stats().keys).toBe(1)
    clock.set(retryAfterMs - 1)
    expect(limiter.allow('k')).toBe(false)
    clock.set(retryAfterMs)
    expect(limiter.allow('k')).toBe(true)
  })

  // https://github.com/express-rate-limit/express-rate-limit/pull/380
  it.each(everyAlgorithm(0, 1_000))('CF-03: limit 0 blocks all in a %s, and says never', (_, policy) => {
    const { limiter, clock } = bench(sync, policy)
    for (const ms of [0, 1, 1_000, 86_400_000]) {
      clock.set(ms)
      expect(limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: Infinity, resetAfterMs: 0 })
    }
  })
})

// https://github.com/express-rate-limit/express-rate-limit/pull/380 and https://github.com/wheels-dev/wheels/issues/2693
it('CF-03, CF-04: limit Infinity, and a window that is no finite time above 0, are refused by name, in every algorithm', () => {
  const refused = (field: string) => expect.objectContaining({ code: 'ERR_HOTBUCKET_POLICY', message: expect.stringContaining(field) })
  expect(() => everyAlgorithm(Infinity, 1_000)).toThrow(refused('limit'))
  for (const windowMs of [0, -1, NaN, Infinity, '60000', undefined] as unknown as number[]) {
    for (const make of [fixedWindow, slidingWindowCounter, slidingWindowLog]) {
      expect(() => make({ limit: 5, windowMs })).toThrow(refused('windowMs'))
    }
    expect(() => fixedWindow({ limit: 5, windowMs, anchored: 'first' })).toThrow(refused('windowMs'))
  }
})
