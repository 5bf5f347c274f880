/**
 * Fixed window anchored at a key's first request: the window opens with the first charge and closes `windowMs`
 * later, whatever is asked in between. One cell holds `start * (limit + 1) + used`; 0 used is full.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, Outlook, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS, scaled, waitMs } from './algorithm.ts'
import * as algorithm from './algorithm.ts'

// Held here: see cas.ts.
const { REFUSED_STEP } = algorithm

// The state of the last `read`, in locals of the module: returning an object would be garbage at every call.
let start = 0
let used = 0

/** Reads a cell as it stands at `now`. */
function read(value: number, { limit, ceiling }: Terms, now: number): void {
  start = Math.floor(value / (limit + 1))
  used = value - start * (limit + 1)
  if (now >= start + ceiling) used = 0
  if (used === 0 && now > start) start = now
}

export const anchoredWindowAlgorithm: Algorithm = {
  name: 'anchored-window',
  id: 4,

  terms({ limit, periodMs }: PolicyNumbers, bornMs: number): Terms {
    const perMs = Math.min(1_000, Math.floor(MAX_VALUE / (limit + 1) / MIN_HORIZON_MS))
    if (perMs < 1) {
      const range = `a whole number from 0 to ${Math.floor(MAX_VALUE / MIN_HORIZON_MS) - 1} for a window anchored at the first request`
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, range)
    }
    return {
      algorithm: anchoredWindowAlgorithm,
      reading: anchoredWindowAlgorithm.reading,
      spend: anchoredWindowAlgorithm.spend,
      limit,
      periodMs,
      burst: limit,
      bornMs,
      bornWindow: 0,
      unitsPerToken: 1,
      unitsPerRefill: perMs,
      ceiling: Math.ceil(periodMs * perMs),
      ringSize: 0,
      horizonMs: MAX_VALUE / (limit + 1) / perMs - 1,
    }
  },

  reading({ bornMs, unitsPerRefill }: Terms, ms: number): number {
    return Math.floor((ms - bornMs) * unitsPerRefill)
  },

  whenMs({ bornMs, unitsPerRefill }: Terms, units: number): number {
    return bornMs + units / unitsPerRefill
  },

  fresh({ limit }: Terms, now: number): number {
    return now * (limit + 1)
  },

  isFull(value: number, terms: Terms, now: number): boolean {
    read(value, terms, now)
    return used === 0
  },

  spend(value: number, terms: Terms, now: number, cost: number): number {
    read(value, terms, now)
    if (used + cost > terms.limit) return REFUSED_STEP
    return start * (terms.limit + 1) + used + cost
  },

  refund(value: number, terms: Terms, now: number, cost: number): number {
    read(value, terms, now)
    // Nothing where the window opened after `now`: what is given back was not charged there.
    if (used === 0 || start > now) return REFUSED_STEP
    return start * (terms.limit + 1) + Math.max(0, used - cost)
  },

  describe(value: number, terms: Terms, now: number, cost: number, out: Outlook): void {
    read(value, terms, now)
    const end = start + terms.ceiling
    out.remaining = terms.limit - used
    out.retryAt = cost > terms.limit ? Infinity : used + cost <= terms.limit ? now : end
    out.resetAt = used === 0 ? now : end
  },

  convert(value: number, from: Terms, to: Terms, ms: number): number {
    read(value, from, this.reading(from, ms))
    // Not before the window opened: the caller's reading may be.
    const at = ms + waitMs(from, ms, start)
    const began = Math.min(this.reading(to, at), this.reading(to, this.whenMs(from, start)))
    return began * (to.limit + 1) + scaled(used, from.limit, to.limit)
  },
}
