/**
 * Sliding window counter: the count of the window before, weighted by how much of it the last `windowMs` still
 * overlap, plus the count of this one. The request itself is counted, and all is whole numbers:
 *
 *     previous * (W - elapsed) + (current + cost) * W <= limit * W
 *
 * One cell holds `(window * (limit + 1) + previous) * (limit + 1) + current`, a number in mixed radix that only
 * grows, so it is its own version. It fails where requests were uneven in the window
 * before: mostly by a few percent, at worst by almost the limit.
 */
import { outOfRange } from '../errors.ts'
import type { Algorithm, Outlook, PolicyNumbers, Terms } from './algorithm.ts'
import { MAX_VALUE, MIN_HORIZON_MS, scaled, waitMs } from './algorithm.ts'
import * as algorithm from './algorithm.ts'

// Held here: see cas.ts.
const { REFUSED_STEP } = algorithm

/** Units of a millisecond: microseconds, or coarser where the products would not be exact. */
function unitsPerMs(limit: number, periodMs: number): number {
  return Math.min(1_000, Math.floor(2 ** 52 / ((limit + 1) * periodMs)))
}

// The state of the last `roll`, in locals of the module: returning an object would be garbage at every call.
let window = 0
let elapsed = 0
let previous = 0
let current = 0

/** Reads a cell as it stands at `now`: rolled on to now's window, or at its own start where `now` is older. */
function roll(value: number, { limit, ceiling }: Terms, now: number): void {
  const radix = limit + 1
  const counts = Math.floor(value / radix)
  window = Math.floor(counts / radix)
  current = value - counts * radix
  previous = counts - window * radix
  const nowWindow = Math.floor(now / ceiling)
  elapsed = 0
  if (nowWindow < window) return
  elapsed = now - nowWindow * ceiling
  if (nowWindow === window) return
  previous = nowWindow === window + 1 ? current : 0
  current = 0
  window = nowWindow
}

function cell(limit: number): number {
  return (window * (limit + 1) + previous) * (limit + 1) + current
}

export const slidingWindowCounterAlgorithm: Algorithm = {
  name: 'sliding-window-counter',
  id: 3,

  terms({ limit, periodMs }: PolicyNumbers, bornMs: number): Terms {
    const perMs = unitsPerMs(limit, periodMs)
    const horizonMs = (MAX_VALUE / (limit + 1) ** 2 - 2) * periodMs
    if (perMs < 1 || horizonMs < MIN_HORIZON_MS) {
      const byHorizon = Math.sqrt(MAX_VALUE / (MIN_HORIZON_MS / periodMs + 2)) - 1
      const most = Math.floor(Math.min(byHorizon, 2 ** 52 / periodMs - 1))
      throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, `a whole number from 0 to ${most} for ${periodMs} ms`)
    }
    return {
      algorithm: slidingWindowCounterAlgorithm,
      reading: slidingWindowCounterAlgorithm.reading,
      spend: slidingWindowCounterAlgorithm.spend,
      limit,
      periodMs,
      burst: limit,
      bornMs,
      bornWindow: Math.floor(bornMs / periodMs),
      unitsPerToken: 1,
      unitsPerRefill: perMs,
      ceiling: Math.ceil(periodMs * perMs),
      ringSize: 0,
      horizonMs,
    }
  },

  reading({ bornWindow, periodMs, ceiling, unitsPerRefill }: Terms, ms: number): number {
    const index = Math.floor(ms / periodMs)
    const units = Math.min(ceiling - 1, Math.floor((ms - index * periodMs) * unitsPerRefill))
    return (index - bornWindow) * ceiling + units
  },

  whenMs({ bornWindow, periodMs, ceiling, unitsPerRefill }: Terms, units: number): number {
    const index = Math.floor(units / ceiling)
    return (index + bornWindow) * periodMs + (units - index * ceiling) / unitsPerRefill
  },

  fresh({ limit, ceiling }: Terms, now: number): number {
    return Math.floor(now / ceiling) * (limit + 1) ** 2
  },

  isFull(value: number, terms: Terms, now: number): boolean {
    roll(value, terms, now)
    return previous === 0 && current === 0
  },

  spend(value: number, terms: Terms, now: number, cost: number): number {
    const { limit, ceiling } = terms
    roll(value, terms, now)
    if (current + cost > limit || previous * (ceiling - elapsed) + (current + cost) * ceiling > limit * ceiling) return REFUSED_STEP
    current += cost
    return cell(limit)
  },

  refund(value: number, terms: Terms, now: number, cost: number): number {
    roll(value, terms, now)
    // Nothing where the state is of a later window than `now`: what is given back was not charged there.
    if (window * terms.ceiling > now || (previous === 0 && current === 0)) return REFUSED_STEP
    const fromCurrent = Math.min(current, cost)
    current -= fromCurrent
    previous -= Math.min(previous, cost - fromCurrent)
    return cell(terms.limit)
  },

  describe(value: number, terms: Terms, now: number, cost: number, out: Outlook): void {
    const { limit, ceiling } = terms
    roll(value, terms, now)
    const start = window * ceiling
    const used = previous * (ceiling - elapsed) + current * ceiling
    out.remaining = Math.max(0, Math.floor((limit * ceiling - used) / ceiling))
    out.resetAt = current > 0 ? start + 2 * ceiling : previous > 0 ? start + ceiling : now
    // Within this window the weight of the previous one decays; where that cannot be enough, within the next.
    const [spare, weight, from] = current + cost <= limit ? [limit - current - cost, previous, start] : [limit - cost, current, start + ceiling]
    const enough = from + ceiling - (weight === 0 ? ceiling : Math.min(ceiling, Math.floor((spare * ceiling) / weight)))
    // A reading older than the state stands at its start, as in `spend`.
    out.retryAt = cost > limit ? Infinity : enough <= start + elapsed ? now : enough
  },

  convert(value: number, from: Terms, to: Terms, ms: number): number {
    roll(value, from, this.reading(from, ms))
    const used = previous * (from.ceiling - elapsed) + current * from.ceiling
    // Not before the window that the counts belong to: the caller's reading may be.
    window = Math.floor(this.reading(to, ms + waitMs(from, ms, window * from.ceiling)) / to.ceiling)
    previous = 0
    current = scaled(used, from.limit * from.ceiling, to.limit)
    return cell(to.limit)
  },
}
