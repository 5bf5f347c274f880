/**
 * The records of a sliding window log: for each slot a ring of `limit` words, the record of a call in the cell of
 * its first unit (see `record.ts`).
 *
 * A call at head n writes its record into cell `n mod limit` and then moves the head by its cost, each by one
 * compareExchange. A record at the head, of this generation, epoch and lap, is a call under way: anyone who meets it
 * moves the head for it, so a thread stopped between the two holds nobody up. The head's move is the linearization
 * point. Cells inside a record of several units are cleared first, to records of no units, so that no cell is older than a lap; and all cells
 * before a new tenant's slot is committed, since three bits of generation come round soon.
 */
import type { Facts, Terms } from '../arithmetic/algorithm.ts'
import * as algorithm from '../arithmetic/algorithm.ts'
import * as log from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_BYTES } from './layout.ts'
import * as record from './record.ts'
import * as word from './word.ts'

// Held here: see cas.ts.
const { FACT } = algorithm
const { EPOCHS, RECORD_EPOCHS } = log
const { bears, bearsButEpoch, clearedTo, costRead, epochRead, ITS_TIME, NOTHING, read, recordOf, tagOf, timeRead } = record
const { isLast } = word
const STRIDE = SLOT_BYTES / 8

export class Ring {
  private readonly words: BigInt64Array
  private readonly firstSlot: number
  private readonly firstCell: number
  private readonly cellsPerSlot: number
  /** The record at the head as `gather` saw it: what `propose` expects. */
  private atHead = 0n
  // Of the state that `gather` was given: what its records bear, the ring's first cell, the head's epoch and place.
  private hi = 0
  private ring = 0
  private epoch = 0
  private place = 0
  /** Its lap, in 32 bits, of which records bear the low ones; and how many laps there were before, up to 2: no look goes further back. */
  private lap = 0
  private lapsBefore = 0

  constructor({ words, firstSlot, firstRing, ringSize }: Arena) {
    this.words = words
    this.firstSlot = firstSlot
    this.firstCell = firstRing
    this.cellsPerSlot = ringSize
  }

  /**
   * Fills `facts` for a call of `cost` on a slot whose state word has the upper half `hi` and the value `value`; `count`
   * asks for the units in the window too. Returns the units of a call under way at the head, 0 when there is none.
   */
  gather(slot: number, hi: number, terms: Terms, value: number, now: number, cost: number, facts: Facts, count: boolean): number {
    const size = terms.ringSize
    const head = Math.floor(value / EPOCHS)
    const lap = Math.floor(head / size)
    this.hi = hi
    this.ring = this.ringOf(slot)
    this.epoch = (value - head * EPOCHS) | 0
    this.place = (head - lap * size) | 0
    this.lap = lap | 0
    this.lapsBefore = lap < 2 ? lap : 2
    this.atHead = Atomics.load(this.words, this.ring + this.place)
    read(this.atHead)
    if (costRead() > 0 && bears(tagOf(hi, this.epoch, this.lap))) return costRead()
    facts[FACT.newest] = this.timeBefore(terms, 1)
    facts[FACT.oldest] = cost >= 1 && cost <= size ? this.timeBefore(terms, size + 1 - cost) : -Infinity
    if (count) facts[FACT.used] = this.unitsAfter(terms, now)
    return 0
  }

  /** The units whose window has not passed at `now`. */
  private unitsAfter(terms: Terms, now: number): number {
    let used = 0
    while (used < terms.ringSize && this.timeBefore(terms, used + 1) + terms.ceiling > now) used++
    return used
  }

  /** Writes the record of a call at the head that `gather` saw in the word read last; false when another thread was first. */
  propose(slot: number, held: bigint, hi: number, terms: Terms, cost: number, now: number, facts: Facts): boolean {
    const { words } = this
    if (!isLast(Atomics.load(words, slot))) return false
    const newest = facts[FACT.newest]!
    const time = now > newest ? now : newest
    if (cost > 1 && !this.clear(slot, held, hi, this.place + 1, cost - 1, terms.ringSize, time)) return false
    const proposed = recordOf(tagOf(hi, this.epoch, this.lap), cost, time)
    return Atomics.compareExchange(words, this.ring + this.place, this.atHead, proposed) === this.atHead
  }

  /**
   * Says in `facts` to which epoch a refund of `cost` may move on from the state that `gather` saw: one that no record
   * bears at a unit which the head will meet again, else that record would be taken for a call under way; -1 for none.
   */
  chooseEpoch(slot: number, hi: number, terms: Terms, cost: number, facts: Facts): void {
    const size = terms.ringSize
    const ring = this.ringOf(slot)
    const back = Math.min(cost, facts[FACT.used]!)
    let taken = 1 << this.epoch % RECORD_EPOCHS
    for (let unit = -back; unit < size - back; unit++) {
      const place = this.place + unit
      const lap = this.lap + (place < 0 ? -1 : place < size ? 0 : 1)
      read(Atomics.load(this.words, ring + ((place + size) % size)))
      if (costRead() > 0 && bearsButEpoch(tagOf(hi, 0, lap))) taken |= 1 << epochRead()
    }
    let on = 1
    while (on < RECORD_EPOCHS && (taken & (1 << (this.epoch + on) % RECORD_EPOCHS)) !== 0) on++
    facts[FACT.epoch] = on === RECORD_EPOCHS ? -1 : (this.epoch + on) % EPOCHS
  }

  /**
   * Makes the ring of a slot a new tenant's, before the claim with the word `held`, made at the reading `claimed`, is
   * committed; returns the value to commit. The ring begins with a lap that left the window at the claim: a call with an
   * older reading, stalled since another tenancy of the same key, is refused as it would have been by that one.
   */
  begin(slot: number, held: bigint, hi: number, { ringSize, ceiling }: Terms, claimed: number): number {
    const words = this.words
    this.clear(slot, held, hi, 1, ringSize - 1, ringSize, NOTHING)
    const first = this.ringOf(slot)
    // Where the window reaches back beyond the arena's birth, no other tenancy can have been charged.
    const begun = claimed < ceiling ? 0n : recordOf(tagOf(hi, 0, 0), ringSize, claimed - ceiling)
    const old = Atomics.load(words, first)
    if (old !== begun && Atomics.load(words, slot) === held) Atomics.compareExchange(words, first, old, begun)
    return begun === 0n ? 0 : ringSize * EPOCHS
  }

  /** Clears the records that a refund of `units` left ahead of the head, while the word is still the refund's own. */
  clearRefunded(slot: number, held: bigint, { ringSize }: Terms, units: number): void {
    this.clear(slot, held, 0, this.place - units + ringSize, units, ringSize, ITS_TIME)
  }

  /**
   * Clears `count` cells from `place` on while the slot's word is `held`; false when it is not. Each cell is read before
   * the word is checked: a later call or tenant that writes in between changes the cell, and the exchange fails. What
   * stays is a record of no units: of `time`, at which all that was there had left the window; of the time that was there;
   * or nothing.
   */
  private clear(slot: number, held: bigint, hi: number, place: number, count: number, size: number, time: number): boolean {
    const words = this.words
    const ring = this.ringOf(slot)
    for (let i = 0; i < count; i++) {
      const at = place + i
      const cell = ring + (at % size)
      const old = Atomics.load(words, cell)
      if (old === 0n) continue
      if (Atomics.load(words, slot) !== held) return false
      Atomics.compareExchange(words, cell, old, clearedTo(old, time, tagOf(hi, this.epoch, this.lap + (at < size ? 0 : 1))))
    }
    return true
  }

  private ringOf(slot: number): number {
    return this.firstCell + ((slot - this.firstSlot) / STRIDE) * this.cellsPerSlot
  }

  /**
   * The time of the unit `units` before the head, 1 to `size`: that of the nearest record at or before it which reaches
   * it. Where a call of the next lap has written over it, or is about to, the unit had left the window at that call's
   * time, and nothing later is known: a thread whose reading is older may not take it for gone.
   */
  private timeBefore({ ringSize, ceiling }: Terms, units: number): number {
    let place = this.place - units
    let { lap, lapsBefore } = this
    for (let back = 0; back < ringSize; back++, place--) {
      if (place < 0) {
        if (--lapsBefore < 0) break
        place += ringSize
        lap--
      }
      read(back === 0 && units === ringSize ? this.atHead : Atomics.load(this.words, this.ring + place))
      if (bearsButEpoch(tagOf(this.hi, 0, lap + 1)) && timeRead() >= 0) return timeRead() - ceiling
      if (costRead() > back && bearsButEpoch(tagOf(this.hi, 0, lap))) return timeRead()
    }
    return -Infinity
  }
}
