/** What applies a step to a bucket as one atomic change: `cas.ts` the one way, `mutex.ts` the other. */
import type { Facts, Step } from '../arithmetic/algorithm.ts'
import type { Place } from './place.ts'

/** The slot is not, or no longer, this key's. */
export const MISS = 0
/** The change was made. */
export const DONE = 1
/** The step said no; nothing was written. */
export const REFUSED = 2
/** The bound of the loop was reached: others changed the word each time; nothing was written. */
export const CONTENDED = 3
export type Verdict = typeof MISS | typeof DONE | typeof REFUSED | typeof CONTENDED

/** Registers: the reading at which the next call decides; the state that the last call saw, or wrote when it was DONE. */
export const NOW = 0
export const VALUE = 1

/** Applies a step to the bucket at a place, as one atomic change; MISS where the place's slot is another key's. */
export interface Driver {
  /** Cells, since a number in a field or an argument may be a new object at each call. */
  readonly registers: Float64Array
  /** What the last call on a ring knew of it. */
  readonly facts: Facts
  transact(place: Place, step: Step, cost: number): Verdict
}
