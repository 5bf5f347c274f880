/**
 * The one compare-and-swap loop. Everything that changes the state of a key's bucket passes through it.
 *
 * Linearization: a change at its successful compareExchange; a refusal, and a miss, at the atomic load that finds the
 * word on which it was decided. The first look at the word is a plain read, which may be old: it is a guess, proven
 * by the compareExchange or the load, and never decided on alone.
 *
 * Identity cells are read plainly beside it. A match certifies itself: both cells are masked with the
 * generation in the word, are written once a generation, before the commit, and the word is proven to be still of
 * that generation when the change lands. A mismatch may be a stale read; it only sends the caller to the search,
 * which reads atomically.
 */
import type { Facts, Step, Terms } from '../arithmetic/algorithm.ts'
import { FACTS, REFUSED_STEP } from '../arithmetic/algorithm.ts'
import { EPOCHS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY } from './layout.ts'
import type { Place } from './place.ts'
import { Ring } from './ring.ts'
import type { Tally } from './tally.ts'
import { generationOf, hiOf, isLast, KIND_MASK, lastPlus, maskOf, sameTenancy, valueBeside } from './word.ts'

/** The slot is not, or no longer, this key's. */
export const MISS = 0
/** The change was made. */
export const DONE = 1
/** The step said no; nothing was written. */
export const REFUSED = 2
/** The bound of the loop was reached: others changed the word each time; nothing was written. */
export const CONTENDED = 3
export type Verdict = typeof MISS | typeof DONE | typeof REFUSED | typeof CONTENDED

// What `next` is besides a state or REFUSED_STEP.
const AGAIN = -2
const NOT_OURS = -3

/** A bound that only a fault reaches: every lost turn is another thread's success. */
const MOST_TURNS = 1 << 14

/** Applies a step to the bucket at a place, as one atomic change; MISS where the place's slot is another key's. */
export interface Driver {
  /**
   * Cells, since a number in a field or an argument may be a new object at each call: the reading at which the next call
   * decides, then the state that the last call saw, or wrote when it was DONE.
   */
  readonly registers: Float64Array
  /** What the last call on a ring knew of it. */
  readonly facts: Facts
  transact(place: Place, step: Step, cost: number): Verdict
}

export const NOW = 0
export const VALUE = 1

export class CasDriver implements Driver {
  readonly registers = new Float64Array(2)
  readonly facts: Facts = new Float64Array(FACTS)
  private readonly words: BigInt64Array
  private readonly cells: Int32Array
  private readonly tally: Tally
  private readonly ring: Ring

  constructor(arena: Arena, tally: Tally) {
    this.words = arena.words
    this.cells = arena.cells
    this.tally = tally
    this.ring = new Ring(arena)
  }

  transact(place: Place, step: Step, cost: number): Verdict {
    const { words, cells, registers } = this
    const { slot, terms } = place
    let word = words[slot]!
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const hi = hiOf(word)
      const value = valueBeside(hi)
      const mask = maskOf(generationOf(hi))
      const id = 2 * slot
      let next = NOT_OURS
      if (
        (hi & KIND_MASK) === place.kind &&
        (cells[id + SLOT_IDENTITY0]! ^ mask) === place.h0 &&
        (cells[id + SLOT_IDENTITY1]! ^ mask) === place.h1
      ) {
        next = terms.ringSize === 0 ? step(value, terms, registers[NOW]!, cost, this.facts) : this.stepOnRing(place, word, hi, value, step, cost)
        registers[VALUE] = value
        if (next >= 0) {
          const changed = lastPlus(next - value)
          const seen = Atomics.compareExchange(words, slot, word, changed)
          if (isLast(seen) || (terms.ringSize !== 0 && carried(step, terms, hi, next, seen))) {
            if (next < value && terms.ringSize !== 0) this.ring.clearRefunded(slot, changed, terms, Math.floor(value / EPOCHS) - Math.floor(next / EPOCHS))
            registers[VALUE] = next
            return DONE
          }
          this.tally.count(TALLY.casRetries)
          word = seen
          continue
        }
      }
      const seen = Atomics.load(words, slot)
      if (next !== AGAIN && isLast(seen)) return next === REFUSED_STEP ? REFUSED : MISS
      word = seen
    }
    this.tally.count(TALLY.contended)
    return CONTENDED
  }

  /** A step on a state with a ring: the next value, REFUSED_STEP, or AGAIN when another call is, or was, first. */
  private stepOnRing({ slot, terms }: Place, word: bigint, hi: number, value: number, step: Step, cost: number): number {
    const { ring, facts } = this
    const now = this.registers[NOW]!
    const spends = step === terms.algorithm.spend
    const underWay = ring.gather(slot, hi, terms, value, now, cost, facts, !spends)
    if (underWay > 0) {
      Atomics.compareExchange(this.words, slot, word, lastPlus(underWay * EPOCHS))
      return AGAIN
    }
    if (step === terms.algorithm.refund) ring.chooseEpoch(slot, hi, terms, cost, facts)
    const next = step(value, terms, now, cost, facts)
    return next >= 0 && spends && !ring.propose(slot, word, hi, terms, cost, now, facts) ? AGAIN : next
  }
}

/** True when another thread has moved the head past this spend's record for it: same tenancy and epoch, no lower head. */
function carried(step: Step, { algorithm }: Terms, hi: number, next: number, seen: bigint): boolean {
  const seenHi = hiOf(seen)
  const head = valueBeside(seenHi)
  return step === algorithm.spend && sameTenancy(hi, seenHi) && head % EPOCHS === next % EPOCHS && head >= next
}
