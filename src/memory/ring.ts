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
import { SLOT_BYTES } from './layout.ts'
import * as record from './record.ts'
import * as word from './word.ts'

// Held here: see cas.ts.
const { FACT, REFUSED_STEP } = algorithm
const { headOf, HEADS, movedBy, unitsMoved } = log
const { CHARGE, costRead, GONE, grown, isMany, kindRead, read, REFUND, timeRead } = record
const { hiOf, isLast, lastPlus } = word
const STRIDE = SLOT_BYTES / 8

/** What `call` returns when another thread was first: to be looked at anew. */
export const AGAIN = -2

/** The number that a closing of the state `value` bears: not that of the state before, which it may be written over. */
function closing(value: number): number {
  return (value & HEADS) === 0 ? 0 : 2
}

export class Ring {
  private readonly words: BigInt64Array
  private readonly firstSlot: number
  private readonly firstPlace: number
  private readonly placesPerSlot: number
  // Of the state that was gathered: its ring's first place and its head, in laps of two; what the head's place held; the time of the newest unit.
  private ring = 0
  private head = 0
  private atHead = 0n
  private newest = 0

  constructor({ words, firstSlot, firstRing, ringSize }: Arena) {
    this.words = words
    this.firstSlot = firstSlot
    this.firstPlace = firstRing
    this.placesPerSlot = ringSize
  }

  /** Applies `step` to the state `value` of the word `held`, which was read last: the next state, REFUSED_STEP or AGAIN. */
  call(slot: number, held: bigint, value: number, terms: Terms, step: Step, now: number, cost: number, facts: Facts): number {
    if (!this.gather(slot, held, value, terms, now, cost, facts, step !== terms.spend)) return AGAIN
    const next = step(value, terms, now, cost, facts)
    const units = next === REFUSED_STEP ? 0 : unitsMoved(value, next, terms.ringSize)
    if (units === 0) {
      if (Atomics.load(this.words, this.placeAt(0, terms.ringSize)) !== this.atHead) return AGAIN
      return next === REFUSED_STEP ? REFUSED_STEP : value
    }
    return this.write(slot, held, value, terms, units, now) ? next : AGAIN
  }

  /**
   * Fills `facts` for a call of `cost` on the state `value` of the word `held`, which was read last; `count` asks for the units in the
   * window too. False when the word has changed, or had a change under way, which is then carried out.
   */
  gather(slot: number, held: bigint, value: number, terms: Terms, now: number, cost: number, facts: Facts, count: boolean): boolean {
    const { words } = this
    const size = terms.ringSize
    this.ring = this.firstPlace + ((slot - this.firstSlot) / STRIDE) * this.placesPerSlot
    this.head = headOf(value)
    // Of another ring, where the policy that the word names has been replaced meanwhile.
    if (this.head >= 2 * size) return false
    const place = this.placeAt(0, size)
    this.atHead = Atomics.load(words, place)
    if (!isLast(Atomics.load(words, slot))) return false
    read(this.atHead)
    if (this.isChange(value, size)) {
      // Read once more, as the word had moved on to this state only by then.
      this.carryOut(slot, held, value, terms, Atomics.load(words, place))
      return false
    }
    facts[FACT.newest] = this.timeAt(-1, terms)
    this.newest = timeRead()
    facts[FACT.oldest] = cost >= 1 && cost < size ? this.timeAt(cost, terms) : -Infinity
    // A refund that was carried out and lies where the head would come to must not be taken for one under way.
    if (!count && cost >= 1 && cost < size && kindRead() === REFUND && !this.bury(slot, cost, size)) return false
    if (count) facts[FACT.used] = this.unitsAfter(terms, now)
    return true
  }

  /** Closes the state of the word `seen`, which was gathered last, to calls: true when an exchange of the word may follow. */
  close(slot: number, seen: bigint, value: number, terms: Terms, facts: Facts): boolean {
    hiOf(seen)
    if (!this.gather(slot, seen, value, terms, 0, 0, facts, false)) return false
    return this.propose(GONE, closing(value), this.newest, terms.ringSize)
  }

  /** Makes the ring of a slot a new tenant's, before the claim with the word `held`, made at the reading `claimed`, is committed. */
  begin(slot: number, held: bigint, { ringSize }: Terms, claimed: number): void {
    const { words } = this
    const first = this.firstPlace + ((slot - this.firstSlot) / STRIDE) * this.placesPerSlot
    for (let place = first; place < first + ringSize; place++) {
      for (;;) {
        const old = Atomics.load(words, place)
        read(old)
        // Gone at the claim: a call with an older reading, stalled since another tenancy of the key, is refused by it.
        if (kindRead() === GONE && !isMany() && timeRead() >= claimed) break
        if (Atomics.load(words, slot) !== held) return
        Atomics.compareExchange(words, place, old, grown(GONE, 1, claimed))
      }
    }
  }

  /** Writes a change of `units`, a refund where they are negative, at the head, and carries it out. */
  private write(slot: number, held: bigint, value: number, terms: Terms, units: number, now: number): boolean {
    const size = terms.ringSize
    const time = units > 0 && now > this.newest ? now : this.newest
    if (!this.propose(units > 0 ? this.chargeAt(0, size) : REFUND, units > 0 ? units : -units, time, size)) return false
    this.carryOut(slot, held, value, terms, this.atHead)
    return true
  }

  /** Exchanges what the head's place held for a change; false when another thread was first. */
  private propose(kind: number, cost: number, time: number, size: number): boolean {
    read(this.atHead)
    const change = grown(kind, cost, time)
    const old = this.atHead
    this.atHead = change
    return Atomics.compareExchange(this.words, this.placeAt(0, size), old, change) === old
  }

  /** Carries out the change that the head's place holds, while the slot's word is `held`. */
  private carryOut(slot: number, held: bigint, value: number, { ringSize }: Terms, change: bigint): void {
    read(change)
    if (!this.isChange(value, ringSize)) return
    const [kind, cost, time] = [kindRead(), costRead(), timeRead()]
    const units = kind === GONE ? 0 : kind === REFUND ? -cost : cost
    for (let unit = -1; unit >= units; unit--) if (!this.settle(slot, held, unit, ringSize, GONE, 0)) return
    for (let unit = 1; unit < units; unit++) if (!this.settle(slot, held, unit, ringSize, this.chargeAt(unit, ringSize), time)) return
    const moved = movedBy(value, units, ringSize)
    hiOf(held)
    Atomics.compareExchange(this.words, slot, held, lastPlus(moved - value))
  }

  /** Sees to it that the place `units` after the head's holds a unit of `kind`, charged at `time`; false when the word is not `held`. */
  private settle(slot: number, held: bigint, units: number, size: number, kind: number, time: number): boolean {
    const { words } = this
    const place = this.placeAt(units, size)
    for (;;) {
      const old = Atomics.load(words, place)
      read(old)
      if (kindRead() === kind && timeRead() >= time) return true
      if (Atomics.load(words, slot) !== held) return false
      // A unit given back was charged when what it lies over had left the window.
      Atomics.compareExchange(words, place, old, grown(kind, 1, kind === GONE ? timeRead() : time))
    }
  }

  /** Makes a refund, read last, that lies `units` after the head a unit gone; false when the word has changed. */
  private bury(slot: number, units: number, size: number): boolean {
    const place = this.placeAt(units, size)
    const old = Atomics.load(this.words, place)
    if (!isLast(Atomics.load(this.words, slot))) return false
    read(old)
    if (kindRead() === REFUND) Atomics.compareExchange(this.words, place, old, grown(GONE, 1, timeRead()))
    return true
  }

  /** The units whose window has not passed at `now`. */
  private unitsAfter(terms: Terms, now: number): number {
    let used = 0
    while (used < terms.limit && this.timeAt(-1 - used, terms) + terms.ceiling > now) used++
    return used
  }

  /** The time of the unit in the place that is `units` after the head's. One that is gone had left the window at the time it bears, and nothing later is known. */
  private timeAt(units: number, { ringSize, ceiling }: Terms): number {
    read(Atomics.load(this.words, this.placeAt(units, ringSize)))
    return kindRead() >= CHARGE ? timeRead() : timeRead() - ceiling
  }

  /** The place that is `units` after the head's, fewer than a lap either way. */
  private placeAt(units: number, size: number): number {
    let at = this.head + units
    if (at < 0) at += size
    return this.ring + (at < size ? at : at < 2 * size ? at - size : at - 2 * size)
  }

  /** The kind of a charge `units` after the head: that of its lap. */
  private chargeAt(units: number, size: number): number {
    const at = this.head + units
    return at >= size && at < 2 * size ? CHARGE + 1 : CHARGE
  }

  /** True when the record read last, at the head of the state `value`, is a change: else it is what lay there before. */
  private isChange(value: number, size: number): boolean {
    const kind = kindRead()
    return kind === REFUND || kind === this.chargeAt(0, size) || (kind === GONE && isMany() && costRead() === closing(value))
  }
}
