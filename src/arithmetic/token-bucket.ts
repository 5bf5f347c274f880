/**
 * Token bucket: GCRA on a straight refill line.
 *
 * A token is a whole number of units and a millisecond adds a whole number of units, so on a clock of whole
 * milliseconds every decision is exactly the rational policy's (G11): limit over period, reduced, is
 * `l / p`; a token is `p * k` units and a millisecond `l * k`, with the least `k` that makes a unit at most a
 * microsecond or a millionth of a token. Where that would wear the cell out within a year, a token is the least
 * whole number of microseconds-or-finer and the refill is rounded down in its last bit: never one more, and
 * less by under one in a million.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS } from './algorithm.ts'
import * as gcra from './gcra.ts'

const UNITS_PER_MS = 1_000
const UNITS_PER_TOKEN = 1_000_000
/** The steepest refill line whose state fits its cell for `MIN_HORIZON_MS`. */
const STEEPEST = Math.floor(MAX_VALUE / MIN_HORIZON_MS)

/** Units of a token and units of a millisecond, for a limit above 0. */
function units(limit: number, periodMs: number): { perToken: number; perMs: number } {
  let [l, p] = [limit, periodMs]
  while (!Number.isSafeInteger(p) && l * 2 <= Number.MAX_SAFE_INTEGER) [l, p] = [l * 2, p * 2]
  if (Number.isSafeInteger(p)) {
    const divisor = greatestCommonDivisor(l, p)
    const [numerator, denominator] = [l / divisor, p / divisor]
    const k = Math.min(Math.ceil(UNITS_PER_MS / numerator), Math.ceil(UNITS_PER_TOKEN / denominator))
    if (numerator * k <= STEEPEST) return { perToken: denominator * k, perMs: numerator * k }
  }
  const perToken = Math.ceil((UNITS_PER_MS * periodMs) / limit)
  return { perToken, perMs: ((perToken * limit) / periodMs) * (1 - Number.EPSILON) }
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}

export const tokenBucketAlgorithm: Algorithm = {
  name: 'token-bucket',
  id: 1,

  terms(numbers: PolicyNumbers, bornMs: number): Terms {
    const { limit, periodMs } = numbers
    // A limit of 0 denies always: no burst either, so nothing is ever charged and the line may be flat.
    const { perToken, perMs } = limit === 0 ? { perToken: 1, perMs: 0 } : units(limit, periodMs)
    const burst = limit === 0 ? 0 : numbers.burst
    const spare = MAX_VALUE - MIN_HORIZON_MS * perMs
    if (spare < perToken) {
      const range = `at most ${STEEPEST} a millisecond and at least 1 in ${MAX_VALUE - MIN_HORIZON_MS} ms`
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit over periodMs', limit / periodMs, range)
    }
    if (burst > spare / perToken) {
      const range = `a whole number from 0 to ${Math.floor(spare / perToken)} for ${limit} per ${periodMs} ms`
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'burst', burst, range)
    }
    const ceiling = burst * perToken
    return {
      algorithm: tokenBucketAlgorithm,
      reading: tokenBucketAlgorithm.reading,
      spend: tokenBucketAlgorithm.spend,
      limit,
      periodMs,
      burst,
      bornMs,
      bornWindow: 0,
      unitsPerToken: perToken,
      unitsPerRefill: perMs,
      ceiling,
      ringSize: 0,
      horizonMs: perMs === 0 ? Infinity : (MAX_VALUE - ceiling) / perMs,
    }
  },

  reading(terms: Terms, ms: number): number {
    return Math.floor((ms - terms.bornMs) * terms.unitsPerRefill)
  },

  whenMs(terms: Terms, units: number): number {
    return terms.bornMs + units / terms.unitsPerRefill
  },

  fresh: gcra.fresh,
  isFull: gcra.isFull,
  spend: gcra.spend,
  refund: gcra.refund,
  convert: gcra.convert,
  describe: gcra.describe,
}
