/** The tags of a log's records are few bits: they come round, and nothing may be read into that (G1, G2, G5). */
import { describe, expect, it } from 'vitest'
import { slidingWindowLog } from '../src/index.ts'
import { admitted, bench, engines } from './engines.ts'

const limit = 40
const windowMs = 1_000

describe.each(engines)('%s', (sync) => {
  it('eight tenants later a slot shows nothing of what the first one spent (G5)', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit, windowMs }), { maxKeys: 1 })
    expect(admitted(limiter, 'tenant 0', 10)).toBe(10)
    for (let tenant = 1; tenant < 300; tenant++) {
      clock.advance(2 * windowMs)
      expect(limiter.allow(`tenant ${tenant}`)).toBe(true)
      expect(limiter.peek(`tenant ${tenant}`).remaining).toBe(limit - 1)
      if (tenant % 16 === 0) expect(admitted(limiter, `tenant ${tenant}`, 2 * limit)).toBe(limit - 1)
    }
  })

  it('any number of refunds of one unit after another gives back exactly those (G2)', () => {
    const { limiter } = bench(sync, slidingWindowLog({ limit, windowMs }))
    for (let refund = 0; refund < 200; refund++) {
      expect(admitted(limiter, 'k', limit)).toBe(refund === 0 ? limit : 1)
      limiter.refund('k')
      expect(limiter.peek('k').remaining).toBe(1)
    }
    expect(admitted(limiter, 'k', limit)).toBe(1)
  })

  it('a reset clears records of every epoch at once (G2)', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit, windowMs }))
    for (let round = 0; round < 20; round++) {
      // Two spent and one refunded leave a record in an epoch of its own.
      for (let call = 0; call < 30; call++) {
        expect(admitted(limiter, 'k', 2)).toBe(2)
        limiter.refund('k')
        expect(limiter.peek('k').remaining).toBe(limit - call - 1)
        clock.advance(1)
      }
      limiter.reset('k')
      expect(limiter.peek('k')).toMatchObject({ remaining: limit, resetAfterMs: 0 })
      expect(admitted(limiter, 'k', 2 * limit)).toBe(limit)
      limiter.reset('k')
    }
  })

  it('a refund for which no epoch is left gives back less, never more (G1)', () => {
    const { limiter } = bench(sync, slidingWindowLog({ limit, windowMs }))
    for (let call = 0; call < 30; call++) {
      expect(admitted(limiter, 'k', 2)).toBe(2)
      limiter.refund('k')
    }
    let given = 0
    for (let refund = 1; refund <= 30; refund++) {
      limiter.refund('k')
      const { remaining } = limiter.peek('k')
      expect(remaining).toBeLessThanOrEqual(limit - 30 + refund)
      given = remaining - (limit - 30)
    }
    expect(given).toBeGreaterThanOrEqual(6)
    expect(admitted(limiter, 'k', 2 * limit)).toBe(limit - 30 + given)
  })
})
