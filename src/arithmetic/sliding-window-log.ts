/**
 * Sliding window log: never more than `limit` units in any `windowMs`, by the time of each unit.
 *
 * Units are numbered from 0. A call of `cost` units at head `n` is allowed when unit `n + cost - 1 - limit` has left
 * the window; times never decrease, so those before it have left too. The cell holds `head * 256 + epoch`: a refund
 * moves the head back and the epoch on, to one that no record bears which the head may meet again. The times lie in a
 * ring of `limit` records, kept by the memory room.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, Facts, Outlook, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS } from './algorithm.ts'
import * as algorithm from './algorithm.ts'

// Held here: see cas.ts.
const { FACT, REFUSED_STEP } = algorithm

/** Bits of a record's time and of its cost. */
export const TIME_BITS = 46
export const MAX_LOG_LIMIT = 1_023
/** Epochs of a state, a power of two, and of a record, which bears the low bits of the state's. */
export const EPOCHS = 256
export const RECORD_EPOCHS = 8

export const slidingWindowLogAlgorithm: Algorithm = {
  name: 'sliding-window-log',
  id: 5,

  terms({ limit, periodMs }: PolicyNumbers, bornMs: number): Terms {
    if (limit > MAX_LOG_LIMIT) {
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, `a whole number from 0 to ${MAX_LOG_LIMIT} for a sliding window log`)
    }
    // Microseconds throughout: a record's time is also what tells it from one that a refund took back.
    const perMs = 1_000
    const ceiling = Math.ceil(periodMs * perMs)
    const least = (limit * MIN_HORIZON_MS * EPOCHS) / MAX_VALUE
    if (ceiling > 2 ** 52 || periodMs < least) {
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'windowMs', periodMs, `from ${least} to ${2 ** 52 / perMs} for ${limit}`)
    }
    return {
      algorithm: slidingWindowLogAlgorithm,
      reading: slidingWindowLogAlgorithm.reading,
      spend: slidingWindowLogAlgorithm.spend,
      limit,
      periodMs,
      burst: limit,
      bornMs,
      bornWindow: 0,
      unitsPerToken: 1,
      unitsPerRefill: perMs,
      ceiling,
      ringSize: limit,
      horizonMs: Math.max(MIN_HORIZON_MS, 2 ** TIME_BITS / perMs - 2),
    }
  },

  reading({ bornMs, unitsPerRefill }: Terms, ms: number): number {
    return Math.floor((ms - bornMs) * unitsPerRefill)
  },

  whenMs({ bornMs, unitsPerRefill }: Terms, units: number): number {
    return bornMs + units / unitsPerRefill
  },

  fresh(): number {
    return 0
  },

  isFull(_value: number, terms: Terms, now: number, facts: Facts): boolean {
    return facts[FACT.newest]! + terms.ceiling <= now
  },

  spend(value: number, terms: Terms, now: number, cost: number, facts: Facts): number {
    return cost > terms.limit || facts[FACT.oldest]! + terms.ceiling > now ? REFUSED_STEP : value + cost * EPOCHS
  },

  refund(value: number, terms: Terms, now: number, cost: number, facts: Facts): number {
    const units = Math.min(cost, facts[FACT.used]!)
    // Nothing where a window has passed since `now`: what is given back is not in this one.
    if (units === 0 || facts[FACT.newest]! >= now + terms.ceiling) return REFUSED_STEP
    const epoch = facts[FACT.epoch]!
    if (epoch >= 0) return (Math.floor(value / EPOCHS) - units) * EPOCHS + epoch
    // No epoch is left: all units can still be left behind, two laps on, where no record matches; some of them cannot.
    return units === facts[FACT.used]! ? value + 2 * terms.ringSize * EPOCHS : REFUSED_STEP
  },

  describe(_value: number, terms: Terms, now: number, cost: number, out: Outlook, facts: Facts): void {
    out.remaining = terms.limit - facts[FACT.used]!
    out.retryAt = cost > terms.limit ? Infinity : Math.max(now, facts[FACT.oldest]! + terms.ceiling)
    out.resetAt = Math.max(now, facts[FACT.newest]! + terms.ceiling)
  },

  /** A ring cannot be rewritten in one step: `setPolicy` refuses what would need it, so the head stays as it is. */
  convert(value: number): number {
    return value
  },
}
