/** Where a policy, or a clock, is not exact in units: never one more, and less by under one in a million (G11). */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import { bench, engines } from '../engines.ts'
import { seed } from './timeline.ts'

const settings = { seed, numRuns: 300 }

/** Tokens that a drained bucket has yielded by `ms` when it is emptied at each of `steps` times on the way. */
function yielded(sync: 'cas' | 'mutex', numbers: { limit: number; periodMs: number; burst: number }, times: readonly number[]): number {
  const { limiter, clock } = bench(sync, tokenBucket(numbers))
  limiter.allow('k', numbers.burst)
  let spent = 0
  for (const ms of times) {
    clock.set(ms)
    const { remaining } = limiter.peek('k')
    if (remaining > 0 && limiter.allow('k', remaining)) spent += remaining
  }
  return spent
}

describe.each(engines)('%s', (sync) => {
  it('a limit over period that does not fit the word yields never one more, and less by under one in a million', () => {
    const numbers = fc.record({
      limit: fc.integer({ min: 17_803, max: 17_802_000 }),
      periodMs: fc.constantFrom(997, 1_009, 9_973, 59_999, 86_399_989),
    })
    fc.assert(
      fc.property(numbers, fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 50 }), ({ limit, periodMs }, steps) => {
        fc.pre(limit / periodMs <= 17_000)
        let ms = 0
        const times = steps.map((step) => (ms += step))
        const exact = (BigInt(ms) * BigInt(limit)) / BigInt(periodMs)
        // The burst exceeds what comes in any step, so nothing spills.
        const burst = Math.ceil((1_000 * limit) / periodMs) + 1
        const spent = BigInt(yielded(sync, { limit, periodMs, burst }, times))
        expect(spent <= exact).toBe(true)
        expect(exact - spent <= exact / 1_000_000n + 1n).toBe(true)
      }),
      settings,
    )
  })

  it('on a clock of fractions of a millisecond yields never one more, and no error adds up', () => {
    const numbers = fc.record({ limit: fc.integer({ min: 1, max: 1_000 }), periodMs: fc.integer({ min: 1, max: 100_000 }) })
    // Times in 1/1,024 of a millisecond, which a SharedClock holds exactly.
    const steps = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 50, maxLength: 200 })
    fc.assert(
      fc.property(numbers, steps, ({ limit, periodMs }, each) => {
        let at = 0
        const times = each.map((step) => (at += step) / 1_024)
        const burst = Math.ceil((300_000 / 1_024) * limit / periodMs) + 1
        const spent = yielded(sync, { limit, periodMs, burst }, times)
        const exact = Number((BigInt(at) * BigInt(limit)) / (1_024n * BigInt(periodMs)))
        expect(spent).toBeLessThanOrEqual(exact)
        // One unit late at most: a microsecond, or a millionth of a token.
        const aUnitEarlier = Number((BigInt(at) * BigInt(limit) * 1_000n - 1_024n * BigInt(limit)) / (1_024_000n * BigInt(periodMs)))
        expect(spent).toBeGreaterThanOrEqual(Math.min(aUnitEarlier, exact))
      }),
      settings,
    )
  })

  it.each([7, 3, 8_001, 80_000])('%i a second yields exactly that over an hour of polls', (limit) => {
    const times = Array.from({ length: 3_600 }, (_, second) => (second + 1) * 1_000)
    expect(yielded(sync, { limit, periodMs: 1_000, burst: limit }, times)).toBe(limit * 3_600)
  })
})
