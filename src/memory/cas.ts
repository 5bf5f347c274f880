/**
 * The one compare-and-swap loop. Everything that changes the state of a key's bucket passes through it.
 *
 * Linearization: a change at its successful compareExchange; a refusal, and a miss, at the atomic load that finds the
 * word on which it was decided (of a log, both in the place at its head: see `ring.ts`). The first look at the word is a
 * plain read, which may be old: it is a guess, proven by the compareExchange or the load, and never decided on alone.
 *
 * Identity cells are read plainly beside it. A match certifies itself: both cells are masked with the
 * generation in the word, are written once a generation, before the commit, and the word is proven to be still of
 * that generation when the change lands. A mismatch may be a stale read; it only sends the caller to the search,
 * which reads atomically. So does the version of the policies: an entry of their table is written again only after it has
 * moved on, so where it stands after the word was read, the index in the word means what the place says.
 */
import type { Facts, Step } from '../arithmetic/algorithm.ts'
import * as algorithm from '../arithmetic/algorithm.ts'
import type { Arena } from './arena.ts'
import type { Driver, Verdict } from './driver.ts'
import * as driver from './driver.ts'
import * as layout from './layout.ts'
import type { Place } from './place.ts'
import * as ring from './ring.ts'
import type { Tally } from './tally.ts'
import * as word from './word.ts'

// Held here: what another module exports is looked up at each use, which costs the loop a tenth of its time.
const { FACTS, REFUSED_STEP } = algorithm
const { CONTENDED, DONE, MISS, NOW, REFUSED, VALUE } = driver
const { SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY } = layout
const { policyVersion } = layout.HEADER
const { AGAIN } = ring
const { generationOf, hiOf, isLast, KIND_MASK, lastPlus, maskOf, valueBeside } = word

/** What `next` is besides a state, REFUSED_STEP or AGAIN. */
const NOT_OURS = -3

/** A bound that only a fault reaches: every lost turn is another thread's success. */
const MOST_TURNS = 1 << 14

export class CasDriver implements Driver {
  readonly registers = new Float64Array(2)
  readonly facts: Facts = new Float64Array(FACTS)
  private readonly words: BigInt64Array
  private readonly cells: Int32Array
  private readonly tally: Tally
  private readonly ring: ring.Ring

  constructor(arena: Arena, tally: Tally) {
    this.words = arena.words
    this.cells = arena.cells
    this.tally = tally
    this.ring = new ring.Ring(arena)
  }

  transact(place: Place, step: Step, cost: number): Verdict {
    const { words, cells, registers } = this
    const { slot, terms } = place
    const id = 2 * slot
    let held = words[slot]!
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const hi = hiOf(held)
      const value = valueBeside(hi)
      const mask = maskOf(generationOf(hi))
      let next = NOT_OURS
      if (
        (hi & KIND_MASK) === place.kind &&
        cells[policyVersion] === place.version &&
        (cells[id + SLOT_IDENTITY0]! ^ mask) === place.h0 &&
        (cells[id + SLOT_IDENTITY1]! ^ mask) === place.h1
      ) {
        registers[VALUE] = value
        const now = registers[NOW]!
        if (terms.ringSize === 0) {
          next = step(value, terms, now, cost, this.facts)
          if (next >= 0) {
            const seen = Atomics.compareExchange(words, slot, held, lastPlus(next - value))
            if (isLast(seen)) {
              registers[VALUE] = next
              return DONE
            }
            this.tally.count(TALLY.casRetries)
            held = seen
            continue
          }
        } else {
          next = this.ring.call(slot, held, value, terms, step, now, cost, this.facts)
          if (next === REFUSED_STEP) return REFUSED
          if (next >= 0) {
            registers[VALUE] = next
            return DONE
          }
          this.tally.count(TALLY.casRetries)
        }
      }
      const seen = Atomics.load(words, slot)
      if (next !== AGAIN && isLast(seen)) return next === REFUSED_STEP ? REFUSED : MISS
      held = seen
    }
    this.tally.count(TALLY.contended)
    return CONTENDED
  }
}
