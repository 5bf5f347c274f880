/** Records that are left in a log's ring, by earlier tenants of the slot or by refunds, charge nobody (G2, G5). */
import { describe, expect, it } from 'vitest'
import { slidingWindowLog } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

describe.each(engines)('%s', (sync) => {
  it('the twentieth tenant of a slot gets its whole limit, whatever those before it spent', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit: 4, windowMs: 10 }), { maxKeys: 1 })
    const spends = Array.from({ length: 20 }, (_, tenant) => (tenant % 8 === 0 ? 4 : 1 + (tenant % 3)))
    const got = spends.map((calls, tenant) => {
      clock.advance(20)
      return admitted(limiter, `tenant ${tenant}`, calls)
    })
    expect(got).toEqual(spends)
  })

  it('as many refunds as calls leave the log full, at a frozen clock too', () => {
    const { limiter } = bench(sync, slidingWindowLog({ limit: 10, windowMs: 10 }))
    for (let round = 0; round < 20; round++) {
      expect(admitted(limiter, 'k', 10)).toBe(10)
      const remaining = Array.from({ length: 10 }, () => (limiter.refund('k'), limiter.peek('k').remaining))
      expect(remaining).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }
  })

  it('a call between refunds is charged once', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit: 10, windowMs: 1_000 }))
    expect(admitted(limiter, 'k', 3)).toBe(3)
    limiter.refund('k', 2)
    for (let round = 0; round < 20; round++) {
      clock.advance(1)
      expect(limiter.allow('k', 1 + (round % 2))).toBe(true)
      expect(limiter.peek('k').remaining).toBe(8 - (round % 2))
      limiter.refund('k', 1 + (round % 2))
      expect(limiter.peek('k').remaining).toBe(9)
    }
  })
})
