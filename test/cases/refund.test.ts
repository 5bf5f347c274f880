/** What is given back: exactly what was spent, and never more than full. */
import { describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const two = { limit: 2, windowMs: 1_000 }
const policies: [name: string, policy: Policy][] = [
  ['token bucket', tokenBucket({ limit: 2, periodMs: 1_000 })],
  ['fixed window', fixedWindow(two)],
  ['anchored window', fixedWindow({ ...two, anchored: 'first' })],
  ['sliding window counter', slidingWindowCounter(two)],
  ['sliding window log', slidingWindowLog(two)],
  ['allOf', allOf(tokenBucket({ limit: 2, periodMs: 1_000 }), fixedWindow({ limit: 3, windowMs: 1_000 }))],
]

describe.each(engines)('%s', (sync) => {
  describe.each(policies)('%s of 2', (_, policy) => {
    // https://github.com/animir/node-rate-limiter-flexible/issues/254
    it('RF-01: a refund never lifts above full: 2 pass after one on a fresh key, and 2 after one of 5', () => {
      const { limiter } = bench(sync, policy)
      limiter.refund('fresh')
      expect(limiter.stats().keys).toBe(0)
      expect(admitted(limiter, 'fresh', 10)).toBe(2)
      expect(limiter.allow('k')).toBe(true)
      limiter.refund('k', 5)
      expect(limiter.peek('k')).toMatchObject({ remaining: 2, resetAfterMs: 0 })
      expect(admitted(limiter, 'k', 10)).toBe(2)
    })

    // https://github.com/animir/node-rate-limiter-flexible/pull/333
    it('RF-05: a refund is by key, so a denial must not be refunded; whoever does it anyway gets never above full', () => {
      const { limiter } = bench(sync, policy)
      for (let round = 0; round < 3; round++) {
        expect(admitted(limiter, 'k', 10)).toBe(2)
        for (let denial = 0; denial < 10; denial++) limiter.refund('k')
        expect(limiter.peek('k').remaining).toBe(2)
      }
    })

    it('a reset makes it fresh, and 2 pass; of a key that nobody has met it makes nothing', () => {
      const { limiter, clock } = bench(sync, policy)
      for (const ms of [0, 400, 1_300]) {
        clock.set(ms)
        limiter.reset('k')
        expect(limiter.peek('k')).toMatchObject({ remaining: 2, retryAfterMs: 0, resetAfterMs: 0 })
        expect(admitted(limiter, 'k', 10)).toBe(2)
      }
      limiter.reset('never met')
      limiter.reset('k')
      limiter.sweep()
      expect(limiter.stats().keys).toBe(0)
    })
  })

  // https://github.com/thrasher-corp/gocryptotrader/issues/2371
  it.each([30, 60, 100, 7])('RF-02: three spent and given back in reverse at %i a second are exactly three again', (limit) => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit, periodMs: 1_000, burst: 3 }))
    clock.set(5_000)
    expect(admitted(limiter, 'k', 3)).toBe(3)
    for (let call = 0; call < 3; call++) limiter.refund('k')
    expect(limiter.peek('k')).toMatchObject({ remaining: 3, resetAfterMs: 0 })
    expect(limiter.sweep()).toBe(1)
    expect(limiter.allow('k', 3)).toBe(true)
  })

  it('RF-02: a refund after a later spend gives back just itself: the level at 300 is 7', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 10, periodMs: 1_000, burst: 20 }))
    expect(limiter.allow('k', 15)).toBe(true)
    clock.set(100)
    expect(limiter.allow('k', 5)).toBe(true)
    clock.set(200)
    expect(limiter.allow('k')).toBe(true)
    clock.set(300)
    limiter.refund('k', 5)
    expect(limiter.peek('k', 20)).toMatchObject({ remaining: 7, resetAfterMs: 1_300 })
  })

  it('a refund after the window has closed gives the new window nothing above full', () => {
    for (const policy of [fixedWindow(two), fixedWindow({ ...two, anchored: 'first' }), slidingWindowLog(two)]) {
      const { limiter, clock } = bench(sync, policy)
      expect(admitted(limiter, 'k', 2)).toBe(2)
      clock.set(1_000)
      limiter.refund('k', 2)
      expect(admitted(limiter, 'k', 10)).toBe(2)
    }
  })

  it('a refund after the slot has another tenant gives that one nothing (G5)', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 2, periodMs: 1_000 }), { maxKeys: 1 })
    expect(admitted(limiter, 'first', 2)).toBe(2)
    clock.set(1_001)
    expect(admitted(limiter, 'second', 2)).toBe(2)
    limiter.refund('first', 2)
    limiter.reset('first')
    expect(limiter.allow('second')).toBe(false)
  })
})
