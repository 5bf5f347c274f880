/**
 * Fixed window: GCRA on a staircase. Windows begin at multiples of the window on the clock; at each edge the
 * refill line rises by `limit` units, and a token is one unit. It fails by design at the edge: up to twice the
 * limit may pass in any time shorter than a window.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS, REFUSED_STEP } from './algorithm.ts'
import * as gcra from './gcra.ts'

export const fixedWindowAlgorithm: Algorithm = {
  name: 'fixed-window',
  id: 2,

  terms(numbers: PolicyNumbers, bornMs: number): Terms {
    const { limit, periodMs } = numbers
    const horizonMs = limit === 0 ? Infinity : (MAX_VALUE / limit - 2) * periodMs
    if (horizonMs < MIN_HORIZON_MS) {
      const most = Math.floor(MAX_VALUE / (MIN_HORIZON_MS / periodMs + 2))
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, `a whole number from 0 to ${most} for ${periodMs} ms`)
    }
    return {
      algorithm: fixedWindowAlgorithm,
      reading: fixedWindowAlgorithm.reading,
      spend: fixedWindowAlgorithm.spend,
      limit,
      periodMs,
      burst: limit,
      bornMs,
      bornWindow: Math.floor(bornMs / periodMs),
      unitsPerToken: 1,
      unitsPerRefill: limit,
      ceiling: limit,
      ringSize: 0,
      horizonMs,
    }
  },

  reading(terms: Terms, ms: number): number {
    return (Math.floor(ms / terms.periodMs) - terms.bornWindow) * terms.unitsPerRefill
  },

  whenMs(terms: Terms, units: number): number {
    const step = Math.ceil(units / terms.unitsPerRefill) + terms.bornWindow
    return step * terms.periodMs
  },

  fresh: gcra.fresh,
  isFull: gcra.isFull,
  spend: gcra.spend,
  /** Nothing where the state is of a later window than `now`: what is given back was not charged there. */
  refund(tat: number, terms: Terms, now: number, cost: number): number {
    return tat > now + terms.ceiling ? REFUSED_STEP : gcra.refund(tat, terms, now, cost)
  },

  convert: gcra.convert,
  describe: gcra.describe,
}
