/**
 * The one compare-and-swap loop. Everything that changes the state of a key's bucket passes through it.
 *
 * Linearization: a change at its successful compareExchange; a refusal, and a miss, at the atomic load (or failed
 * compareExchange) that gave the word. The first look at the word is a plain read, which may be old: it is a
 * guess, proven by the compareExchange or corrected by it, and never decided on alone.
 *
 * Identity cells are read plainly beside it. A match certifies itself: both cells are masked with the
 * generation in the word, are written once a generation, before the commit, and the word is proven to be still of
 * that generation when the change lands. A mismatch may be a stale read; it only sends the caller to the search,
 * which reads atomically.
 */
import type { State, Step, Terms } from '../arithmetic/algorithm.ts'
import { STATE, STATE_CELLS } from '../arithmetic/algorithm.ts'
import { EPOCHS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY } from './layout.ts'
import type { Place } from './place.ts'
import { Ring } from './ring.ts'
import type { Tally } from './tally.ts'
import { COMMITTED, generationOf, hiFrom, hiOf, KIND_MASK, maskOf, sameTenancy, valueOf, wordOf, wordPlus } from './word.ts'

/** The slot is not, or no longer, this key's. */
export const MISS = 0
/** The change was made. */
export const DONE = 1
/** The step said no; nothing was written. */
export const REFUSED = 2
/** The bound of the loop was reached: others changed the word each time; nothing was written. */
export const CONTENDED = 3
export type Verdict = typeof MISS | typeof DONE | typeof REFUSED | typeof CONTENDED

/** A bound that only a fault reaches: every lost turn is another thread's success. */
const MOST_TURNS = 1 << 14

/** Applies a step to the bucket at a place, as one atomic change; MISS where the place's slot is another key's. */
export interface Driver {
  /** The state that the last call saw, or wrote when it was DONE. */
  readonly state: State
  /** The reading at which the next call decides: in a cell, since a number passed to a call may be a new object. */
  readonly now: Float64Array
  transact(place: Place, policy: number, terms: Terms, step: Step, cost: number): Verdict
}

export class CasDriver implements Driver {
  readonly state: State = new Float64Array(STATE_CELLS)
  readonly now = new Float64Array(1)
  private readonly words: BigInt64Array
  private readonly cells: Int32Array
  private readonly tally: Tally
  private readonly ring: Ring

  constructor(arena: Arena, tally: Tally) {
    this.words = arena.words
    this.cells = arena.cells
    this.ring = new Ring(arena)
    this.tally = tally
  }

  transact(place: Place, policy: number, terms: Terms, step: Step, cost: number): Verdict {
    const { words, cells, state } = this
    const { slot, h0, h1 } = place
    const kind = hiFrom(0, policy, COMMITTED)
    let word = words[slot]!
    let proven = false
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const hi = hiOf(word)
      let verdict: Verdict = MISS
      const mask = maskOf(generationOf(hi))
      if (
        (hi & KIND_MASK) === kind &&
        (cells[2 * slot + SLOT_IDENTITY0]! ^ mask) === h0 &&
        (cells[2 * slot + SLOT_IDENTITY1]! ^ mask) === h1
      ) {
        const value = (state[0] = valueOf(word))
        const now = this.now[0]!
        const underWay = terms.ringSize === 0 ? 0 : this.ring.gather(slot, hi, terms, now, cost, state, step !== terms.algorithm.spend)
        if (underWay > 0) {
          Atomics.compareExchange(words, slot, word, wordPlus(word, underWay * EPOCHS))
          word = Atomics.load(words, slot)
          continue
        }
        if (terms.ringSize > 0 && step === terms.algorithm.refund) this.ring.chooseEpoch(slot, hi, terms, cost, state)
        if (step(state, 0, terms, now, cost)) {
          const recorded = terms.ringSize > 0 && step === terms.algorithm.spend
          if (recorded && !this.ring.propose(slot, hi, terms, value, cost, state[STATE.oldest]!)) {
            word = Atomics.load(words, slot)
            continue
          }
          const next = state[0] < value ? wordOf(hi, state[0]) : wordPlus(word, state[0] - value)
          const seen = Atomics.compareExchange(words, slot, word, next)
          if (seen === word || (recorded && carried(hi, state[0], seen))) return DONE
          this.tally.count(TALLY.casRetries)
          word = seen
          proven = true
          continue
        }
        verdict = REFUSED
      }
      // A refusal by a ring holds only if the word is still what it was before the ring was read.
      if (proven && (verdict === MISS || terms.ringSize === 0)) return verdict
      const seen = Atomics.load(words, slot)
      if (seen === word) return verdict
      word = seen
      proven = true
    }
    this.tally.count(TALLY.contended)
    return CONTENDED
  }
}

/** True when another thread has moved the head past this call's record for it: same tenancy and epoch, no lower head. */
function carried(hi: number, value: number, seen: bigint): boolean {
  const head = valueOf(seen)
  return sameTenancy(hi, hiOf(seen)) && head % EPOCHS === value % EPOCHS && head >= value
}
