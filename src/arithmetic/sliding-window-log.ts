/**
 * Sliding window log: never more than `limit` units in any `windowMs`, by the time of each unit.
 *
 * A call of `cost` units is allowed when all units have left the window but the last `limit - cost`. The times lie in a ring of `limit + 1` records, kept by the memory
 * room. The cell holds `version * 2048 + head`: the place of the next unit, counted through two laps of the ring, and
 * the number of changes, so that no state comes again.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, Facts, Outlook, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS } from './algorithm.ts'
import * as algorithm from './algorithm.ts'

// Held here: see cas.ts.
const { FACT, REFUSED_STEP } = algorithm

/** Bits of a record's time. */
export const TIME_BITS = 45
export const MAX_LOG_LIMIT = 1_023
/** Values of the head, a power of two: two laps of the largest ring. */
export const HEADS = 2_048
/** What the time of a change may be ahead of its reading, in milliseconds. */
const SLACK_MS = 86_400_000

/** The state with which a tenancy begins whose slot was claimed at `claim`: no earlier one's, so long as time goes on. */
export function begunAt(claim: number): number {
  return (claim % ((MAX_VALUE + 1) / HEADS)) * HEADS
}

/** The head of a state. */
export function headOf(value: number): number {
  return value & (HEADS - 1)
}

/** The state after a change that moves the head by `units`, either way. */
export function movedBy(value: number, units: number, ringSize: number): number {
  const head = headOf(value)
  let to = head + units
  if (to < 0) to += 2 * ringSize
  else if (to >= 2 * ringSize) to -= 2 * ringSize
  const next = value + (to - head) + HEADS
  return next > MAX_VALUE ? next - (MAX_VALUE + 1) : next
}

/** By how many units, either way and fewer than a lap, the head moves from `value` to `next`. */
export function unitsMoved(value: number, next: number, ringSize: number): number {
  const units = headOf(next) - headOf(value)
  return units >= ringSize ? units - 2 * ringSize : units <= -ringSize ? units + 2 * ringSize : units
}

export const slidingWindowLogAlgorithm: Algorithm = {
  name: 'sliding-window-log',
  id: 5,

  terms({ limit, periodMs }: PolicyNumbers, bornMs: number): Terms {
    if (limit > MAX_LOG_LIMIT) {
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, `a whole number from 0 to ${MAX_LOG_LIMIT} for a sliding window log`)
    }
    const perMs = 1_000
    const ceiling = Math.ceil(periodMs * perMs)
    if (ceiling > 2 ** 52) throw outOfRange('ERR_HOTBUCKET_POLICY', 'windowMs', periodMs, `up to ${2 ** 52 / perMs}`)
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
      ringSize: limit + 1,
      horizonMs: Math.max(MIN_HORIZON_MS, 2 ** TIME_BITS / perMs - SLACK_MS),
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
    return cost > terms.limit || facts[FACT.oldest]! + terms.ceiling > now ? REFUSED_STEP : movedBy(value, cost, terms.ringSize)
  },

  refund(value: number, terms: Terms, now: number, cost: number, facts: Facts): number {
    const units = Math.min(cost, facts[FACT.used]!)
    // Nothing where a window has passed since `now`: what is given back is not in this one.
    return units === 0 || facts[FACT.newest]! >= now + terms.ceiling ? REFUSED_STEP : movedBy(value, -units, terms.ringSize)
  },

  describe(_value: number, terms: Terms, now: number, cost: number, out: Outlook, facts: Facts): void {
    out.remaining = terms.limit - facts[FACT.used]!
    out.retryAt = cost > terms.limit ? Infinity : Math.max(now, facts[FACT.oldest]! + terms.ceiling)
    out.resetAt = Math.max(now, facts[FACT.newest]! + terms.ceiling)
  },

  /** A ring cannot be rewritten in one step: `setPolicy` refuses what would need it, so the state stays as it is. */
  convert(value: number): number {
    return value
  },
}
