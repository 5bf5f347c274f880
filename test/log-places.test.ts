/** A place of a log's ring is written again and again, by tenants, refunds and laps: nothing may be read into what is left there (G1, G2, G5). */
import { describe, expect, it } from 'vitest'
import { RateLimiter, slidingWindowLog } from '../src/index.ts'
import { admitted, bench, engines } from './engines.ts'

const limit = 40
const windowMs = 1_000

describe.each(engines)('%s', (sync) => {
  it('many tenants later a slot shows nothing of what the first one spent (G5)', () => {
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

  it('a reset gives back the units of many calls at once (G2)', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit, windowMs }))
    for (let round = 0; round < 20; round++) {
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

  it('refunds of one unit each give back all that was spent, at a frozen clock too (G2)', () => {
    const { limiter } = bench(sync, slidingWindowLog({ limit, windowMs }))
    for (let call = 0; call < 30; call++) {
      expect(admitted(limiter, 'k', 2)).toBe(2)
      limiter.refund('k')
    }
    for (let refund = 1; refund <= 30; refund++) {
      limiter.refund('k')
      expect(limiter.peek('k').remaining).toBe(limit - 30 + refund)
    }
    expect(admitted(limiter, 'k', 2 * limit)).toBe(limit)
  })

  it('where one place is written more often within one reading than tags tell apart, later calls may be refused, and none is admitted that should not be (G1)', () => {
    const { limiter, clock } = bench(sync, slidingWindowLog({ limit: 4, windowMs }))
    let spurious = 0
    for (let round = 0; round < 500; round++) {
      if (!limiter.allow('k', 2)) spurious++
      expect(admitted(limiter, 'k', 8)).toBeLessThanOrEqual(4)
      limiter.reset('k')
    }
    expect(spurious).toBeGreaterThan(0)
    // A microsecond for each 64 of them, later the log is whole again.
    clock.advance(1)
    limiter.reset('k')
    expect(limiter.peek('k')).toMatchObject({ remaining: 4, resetAfterMs: 0 })
    expect(admitted(limiter, 'k', 8)).toBe(4)
  })

  it.each([
    ['is allowed where its clock has gone on', 11_010, true],
    ['is refused where its clock stands', 11_000, false],
  ])('a call whose reading is older than what another thread has given back reads the clock again, and %s (G2, G9)', (_, thenMs, allowed) => {
    let [mineMs, otherMs, meanwhile] = [1_000, 1_000, () => {}]
    const other = new RateLimiter({ policy: slidingWindowLog({ limit: 1, windowMs }), sync, clock: { nowMs: () => otherMs } })
    const mine = RateLimiter.attach(other.handle, {
      clock: {
        nowMs() {
          const reading = mineMs
          meanwhile()
          return reading
        },
      },
    })
    expect(mine.allow('k')).toBe(true)
    ;[mineMs, otherMs] = [11_000, 11_005]
    // After the reading, and before the look.
    meanwhile = () => {
      meanwhile = () => {}
      expect(other.allow('k')).toBe(true)
      other.refund('k')
      mineMs = thenMs
    }
    expect(mine.allow('k')).toBe(allowed)
  })
})
