/**
 * The records of a sliding window log: for each slot a ring of one place more than `limit`, each the record of one unit
 * (see `record.ts`). The place at the head is the one whose unit no decision needs.
 *
 * Whatever changes a log is first written at the head, as one compareExchange: a charge, a refund, or a closing,
 * before which the slot may not be claimed, freed or converted. That exchange is the linearization
 * point. Then the change is carried out, by its caller or by whoever meets it, so a thread stopped in between holds
 * nobody up: its further units are written, and the state word is moved on to a new version. No word leaves a version in
 * another way. So while the place at the head holds what was read of it, the word has not moved on and no change is
 * under way; and since a place only grows, it cannot hold that again.
 */
import type { Facts, Step, Terms } from '../arithmetic/algorithm.ts'
import * as algorithm from '../arithmetic/algorithm.ts'
import * as log from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { closing, Places, timeOf } from './places.ts'
import * as record from './record.ts'
import * as word from './word.ts'

// Held here: see cas.ts.
const { FACT, REFUSED_STEP } = algorithm
const { movedBy, unitsMoved } = log
const { CHARGE, costRead, GONE, grown, isMany, kindRead, read, REFUND, same, timeRead } = record
const { hiOf, isLast, lastPlus } = word

// Of the words kept: what the head's place held; what lies where a charge of the cost gathered for moves the head to; the
// word made, and what its head's place held.
const AT_HEAD = 0
const AHEAD = 1
const MADE = 2
const MADE_AT_HEAD = 3
const KEPT = 4

/** What `call` returns when another thread was first: to be looked at anew. */
export const AGAIN = -2

export class Ring {
  private readonly words: BigInt64Array
  private readonly places: Places
  /** The time of the newest unit of the state that was gathered. */
  private newest = 0
  // A state that this thread made by a charge, and what it knows of it: no word comes again, so where the slot holds it nothing has changed.
  private madeIn = 0
  private madeNewest = 0
  /** Words kept from call to call, in an array since a field would hold each as a new object. */
  private readonly kept = new BigInt64Array(KEPT)

  constructor(arena: Arena) {
    this.words = arena.words
    this.places = new Places(arena)
  }

  /** Applies `step` to the state `value` of the word `held`, which was read last: the next state, REFUSED_STEP or AGAIN. */
  call(slot: number, held: bigint, value: number, terms: Terms, step: Step, now: number, cost: number, facts: Facts): number {
    if (!this.gather(slot, held, value, terms, now, cost, facts, step !== terms.spend)) return AGAIN
    const next = step(value, terms, now, cost, facts)
    const size = terms.ringSize | 0
    const units = next === REFUSED_STEP ? 0 : step === terms.spend ? cost : unitsMoved(value, next, size)
    if (units === 0) return this.stands(cost, size, facts) ? (next === REFUSED_STEP ? REFUSED_STEP : value) : this.lost()
    const kind = units > 0 ? this.places.chargeAt(0, size) : REFUND
    if (!this.propose(kind, units > 0 ? units : -units, units > 0 && now > this.newest ? now : this.newest)) return this.lost()
    const time = timeRead()
    const moved = this.moveOn(slot, held, value, next, units, time, size)
    if (units > 0) {
      this.madeIn = slot
      this.kept[MADE] = moved
      this.kept[MADE_AT_HEAD] = this.kept[AHEAD]!
      this.madeNewest = time
    }
    return next
  }

  /** Another thread has written at the head, and may be stopped: the next look reads what it wrote, and carries it out. */
  private lost(): number {
    this.madeIn = 0
    return AGAIN
  }

  /**
   * Fills `facts` for a call of `cost` on the state `value` of the word `held`, which was read last; `count` asks for the units in the
   * window too. False when the word has changed, or had a change under way, which is then carried out.
   */
  gather(slot: number, held: bigint, value: number, terms: Terms, now: number, cost: number, facts: Facts, count: boolean): boolean {
    const { words, kept, places } = this
    const size = terms.ringSize | 0
    if (!places.stand(slot, value, size)) return false
    if (slot === this.madeIn && isLast(kept[MADE]!)) {
      kept[AT_HEAD] = kept[MADE_AT_HEAD]!
      facts[FACT.newest] = this.newest = this.madeNewest
    } else {
      const place = this.places.atHead
      const atHead = Atomics.load(words, place)
      if (!isLast(Atomics.load(words, slot))) return false
      kept[AT_HEAD] = atHead
      read(atHead)
      if (this.places.isChange(value, size)) {
        // Read once more, as the word had moved on to this state only by then.
        this.carryOut(slot, held, value, terms, Atomics.load(words, place))
        return false
      }
      facts[FACT.newest] = this.places.timeAt(-1, terms)
      this.newest = timeRead()
    }
    facts[FACT.oldest] = -Infinity
    if (cost >= 1 && cost < size) {
      // Of all units that must have left the window, as one that was given back may be known to have left it later than the next.
      for (let unit = 1; unit < cost; unit++) facts[FACT.oldest] = Math.max(facts[FACT.oldest]!, places.timeAt(unit, terms))
      const ahead = Atomics.load(words, places.placeAt(cost, size))
      kept[AHEAD] = ahead
      const time = timeOf(ahead, terms)
      if (time > facts[FACT.oldest]!) facts[FACT.oldest] = time
      // A refund that was carried out and lies where the head would come to must not be taken for one under way.
      if (!count && kindRead() === REFUND) {
        this.overwrite(slot, places.placeAt(cost, size), ahead, GONE, -1)
        return false
      }
    }
    if (count) facts[FACT.used] = this.places.unitsAfter(terms, now)
    return true
  }

  /**
   * Makes the ring of a slot a new tenant's, before the claim with the word `held`, which was read last, is committed: gone at
   * `claimed`, so that a call with an older reading, stalled since another tenancy of the key, is refused. False when another thread was first somewhere.
   */
  begin(slot: number, { ringSize }: Terms, claimed: number): boolean {
    const first = this.places.ringOf(slot)
    for (let place = first; place < first + ringSize; place++) if (!this.settle(slot, place, GONE, claimed)) return false
    return true
  }

  /** True when the place at the head is as it was, so that what was gathered stands. Says in `facts` from when on those of the next `cost` units that are gone are known to be. */
  private stands(cost: number, size: number, facts: Facts): boolean {
    facts[FACT.known] = -Infinity
    for (let unit = 1; unit <= cost && unit < size; unit++) {
      read(Atomics.load(this.words, this.places.placeAt(unit, size)))
      if (kindRead() < CHARGE && timeRead() > facts[FACT.known]!) facts[FACT.known] = timeRead()
    }
    return same(Atomics.load(this.words, this.places.atHead), this.kept[AT_HEAD]!)
  }

  /** Closes the state of the word `seen`, which was gathered last, to calls: true when an exchange of the word may follow. */
  close(slot: number, seen: bigint, value: number, terms: Terms, facts: Facts): boolean {
    hiOf(seen)
    if (!this.gather(slot, seen, value, terms, 0, 0, facts, false)) return false
    return this.propose(GONE, closing(value), this.newest)
  }

  /** Exchanges what the head's place held for a change, then the record read last; false when another thread was first. */
  private propose(kind: number, cost: number, time: number): boolean {
    const atHead = this.kept[AT_HEAD]!
    read(atHead)
    const change = grown(kind, cost, time)
    return same(Atomics.compareExchange(this.words, this.places.atHead, atHead, change), atHead)
  }

  /** Carries out the change that the head's place holds, while the slot's word is `held`. */
  private carryOut(slot: number, held: bigint, value: number, { ringSize }: Terms, change: bigint): void {
    read(change)
    if (!this.places.isChange(value, ringSize)) return
    const kind = kindRead()
    const units = kind === GONE ? 0 : kind === REFUND ? -costRead() : costRead()
    this.moveOn(slot, held, value, movedBy(value, units, ringSize), units, timeRead(), ringSize)
  }

  /**
   * Writes the units of a change of `time`, given back where they are negative, but the one at the head; then moves the
   * word, which was read last, on from `value` to `next`. Returns the word moved on to.
   */
  private moveOn(slot: number, held: bigint, value: number, next: number, units: number, time: number, size: number): bigint {
    const moved = lastPlus(next - value)
    const { places } = this
    for (let unit = -1; unit >= units; unit--) if (!this.settle(slot, places.placeAt(unit, size), GONE, -1)) return moved
    for (let unit = 1; unit < units; unit++) if (!this.settle(slot, places.placeAt(unit, size), places.chargeAt(unit, size), time)) return moved
    Atomics.compareExchange(this.words, slot, held, moved)
    return moved
  }

  /** Sees to it that a place holds a unit of `kind`, of `time` or later; false when another thread was first. */
  private settle(slot: number, place: number, kind: number, time: number): boolean {
    const old = Atomics.load(this.words, place)
    read(old)
    return (kindRead() === kind && !isMany() && timeRead() >= time) || this.overwrite(slot, place, old, kind, time)
  }

  /**
   * Writes a unit over what a place held, `old`, the record read last: of `time`, or of that which it bears where that is later,
   * as of one given back, which was charged when what it lies over had left the window. False when another thread was
   * first, or the word, which was read last, has changed: tried once, as whoever meets the change next goes on with it.
   */
  private overwrite(slot: number, place: number, old: bigint, kind: number, time: number): boolean {
    if (!isLast(Atomics.load(this.words, slot))) return false
    return same(Atomics.compareExchange(this.words, place, old, grown(kind, 1, time)), old)
  }
}
