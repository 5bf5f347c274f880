/**
 * The generic cell rate algorithm (ITU-T I.371, as redis-cell names its parts): the state is the theoretical
 * arrival time (TAT), the reading at which the bucket would be full.
 *
 * The TAT only grows under spends, so the cell is its own version; full is `TAT <= now`; a refusal writes
 * nothing. Token bucket and fixed window are this one rule on two refill lines: a slope and a staircase.
 */
import type { Outlook, Terms } from './algorithm.ts'
import { scaled, waitMs } from './algorithm.ts'
import * as algorithm from './algorithm.ts'

// Held here: see cas.ts.
const { REFUSED_STEP } = algorithm

/** Charges `cost` if the TAT then stays within the delay variation tolerance (`ceiling`) of `now`. */
export function spend(tat: number, terms: Terms, now: number, cost: number): number {
  const next = (tat > now ? tat : now) + cost * terms.unitsPerToken
  return next - now > terms.ceiling ? REFUSED_STEP : next
}

/** Moves the TAT back by `cost`, at most to `now`. */
export function refund(tat: number, terms: Terms, now: number, cost: number): number {
  return tat <= now ? REFUSED_STEP : Math.max(now, tat - cost * terms.unitsPerToken)
}

/** Remaining whole tokens, the reading at which `cost` is allowed, the reading at which the bucket is full. */
export function describe(value: number, terms: Terms, now: number, cost: number, out: Outlook): void {
  const tat = Math.max(value, now)
  const price = cost * terms.unitsPerToken
  out.remaining = Math.max(0, Math.floor((terms.ceiling - (tat - now)) / terms.unitsPerToken))
  out.retryAt = price > terms.ceiling ? Infinity : tat + price - terms.ceiling
  out.resetAt = tat
}

/** True when the TAT is not ahead of `now`. */
export function isFull(tat: number, _terms: Terms, now: number): boolean {
  return tat <= now
}

/** A bucket that is full just now. */
export function fresh(_terms: Terms, now: number): number {
  return now
}

/** The TAT as far ahead of now, as a part of the ceiling, as it was. */
export function convert(value: number, from: Terms, to: Terms, ms: number): number {
  // The last charge was no earlier than a ceiling before the TAT: the caller's reading may be.
  const at = ms + waitMs(from, ms, value - from.ceiling)
  const ahead = Math.max(0, value - from.algorithm.reading(from, at))
  return to.algorithm.reading(to, at) + scaled(ahead, from.ceiling, to.ceiling)
}
