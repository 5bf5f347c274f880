/**
 * The seam between an algorithm and the memory that holds its state.
 *
 * An algorithm is pure: it knows no clock, no memory and no key. Its state is one cell, a whole number from 0 to
 * MAX_VALUE; the log has a ring of records besides, of which the memory room passes the few facts it decides by
 * (see FACT). A step takes the state and returns the next: an array of cells between them, written and read back
 * within one call, costs a tenth of the whole decision. It obeys five laws: a refusal changes nothing; an older `now` adds nothing; the
 * zeroed state is full; denied at every tick before the retry time and allowed at it; cost 0 succeeds and
 * changes nothing. A drivers' compare-and-swap loop therefore needs to know nothing about it.
 */

/** Bits of one state cell. */
export const VALUE_BITS = 49

/** The greatest value that a state cell holds. */
export const MAX_VALUE = 2 ** VALUE_BITS - 1

/** The greatest time, either way of 0, that a clock may show and a policy may name: 2^43 - 1 ms, some 278 years. */
export const MAX_TIME_MS = 2 ** 43 - 1

/** The least time, in milliseconds, for which every accepted policy must fit its cell: one leap year. */
export const MIN_HORIZON_MS = 366 * 86_400_000

/** What a Step returns when it says no. */
export const REFUSED_STEP = -1

/**
 * The few facts of a ring by which the log decides, as cells; times are readings, -Infinity for none. The other
 * algorithms never look at them.
 */
export const FACT = {
  /** The latest time of the units that must have left the window for a call of this cost. */
  oldest: 0,
  /** The time of the newest unit. */
  newest: 1,
  /** Units within the window; for `describe` and `refund` only. */
  used: 2,
  /** The reading from which on units that must have left are known to have, where they were given back meanwhile. */
  known: 3,
} as const
export const FACTS = 4
export type Facts = Float64Array

/** The numbers of a policy as a user gives them. */
export interface PolicyNumbers {
  /** Sustained allowance in cost units per period. */
  readonly limit: number
  /** The period, or window, in milliseconds. */
  readonly periodMs: number
  /** Most cost units at once. */
  readonly burst: number
}

/** A policy in the units of its algorithm. One shape for all algorithms, so that call sites stay monomorphic. */
export interface Terms extends PolicyNumbers {
  readonly algorithm: Algorithm
  /** The algorithm's `reading` and `spend`, one step nearer. */
  readonly reading: Algorithm['reading']
  readonly spend: Step
  /** The clock's reading at the birth of the arena, whole milliseconds; state counts time from here. */
  readonly bornMs: number
  /** The window in which that is, counted from time 0; 0 where windows are not counted. */
  readonly bornWindow: number
  /** Units in one token (a cost of 1). */
  readonly unitsPerToken: number
  /** Units that a period of one millisecond refills; for a staircase, units per step. */
  readonly unitsPerRefill: number
  /** `burst` in units: how far the state may run ahead of `now`. */
  readonly ceiling: number
  /** Places in the ring of a slot: 0 for the algorithms whose state is one cell. */
  readonly ringSize: number
  /** Milliseconds after `bornMs` up to which every state fits its cell. */
  readonly horizonMs: number
}

/** What `describe` fills in. Times are readings in the policy's units; `Infinity` is never. */
export interface Outlook {
  /** Whole cost units that could be spent now. */
  remaining: number
  /** The least reading at which a call of this cost is allowed. */
  retryAt: number
  /** The least reading at which the state is full. */
  resetAt: number
}

/** A change to one state: the next state, or REFUSED_STEP. */
export type Step = (value: number, terms: Terms, now: number, cost: number, facts: Facts) => number

export interface Algorithm {
  /** The name that policies and error messages bear. */
  readonly name: string
  /** The number that stands for it in the arena. */
  readonly id: number
  /** The policy in this algorithm's units. Throws ERR_HOTBUCKET_POLICY where it cannot be held exactly enough. */
  terms(numbers: PolicyNumbers, bornMs: number): Terms
  /** The clock reading `ms` in the policy's units: whole, never decreasing in `ms`. */
  reading(terms: Terms, ms: number): number
  /** About the clock reading at which `reading` reaches `units`; `waitMs` makes it exact. */
  whenMs(terms: Terms, units: number): number
  /** The least state that is full at `now`. */
  fresh(terms: Terms, now: number): number
  /** True when the state cannot be told from a fresh one at `now`. */
  isFull(value: number, terms: Terms, now: number, facts: Facts): boolean
  /** Decides: the state with `cost` charged, or REFUSED_STEP. */
  readonly spend: Step
  /** The state with `cost` given back, never beyond full; REFUSED_STEP where it is full already. */
  readonly refund: Step
  /** The state `value` of `from` as a state of `to`, a policy of the same algorithm, that has used the same fraction, rounded up. */
  convert(value: number, from: Terms, to: Terms, ms: number): number
  /** Fills `out` for a call of `cost` at `now`; changes nothing else. */
  describe(value: number, terms: Terms, now: number, cost: number, out: Outlook, facts: Facts): void
}

/**
 * `used` out of `from` as the same part of `to`, rounded up: 0 where there was nothing to use. Exact, since in floats
 * a whole result may come out a little above itself; a change of policy can afford the garbage.
 */
export function scaled(used: number, from: number, to: number): number {
  if (from === 0) return 0
  const [dividend, divisor] = [BigInt(used) * BigInt(to), BigInt(from)]
  return Math.min(to, Number((dividend + divisor - 1n) / divisor))
}

/** A bound that only a fault reaches. */
const MOST_STEPS = 1 << 10

/**
 * The least whole number of milliseconds, added to the clock reading `ms`, at which the reading has reached
 * `units`. Asks `reading` itself, so the wait is honest whatever rounding the estimate suffered (G10).
 */
export function waitMs(terms: Terms, ms: number, units: number): number {
  if (units === Infinity) return Infinity
  const { algorithm } = terms
  if (algorithm.reading(terms, ms) >= units) return 0
  let wait = Math.max(0, Math.ceil(algorithm.whenMs(terms, units) - ms))
  // The estimate is off by a step or two; where it is not, the units are of another policy, and a fault must not hang.
  for (let steps = 0; steps < MOST_STEPS && wait > 0 && algorithm.reading(terms, ms + wait - 1) >= units; steps++) wait--
  for (let steps = 0; steps < MOST_STEPS && algorithm.reading(terms, ms + wait) < units; steps++) wait++
  return wait
}
