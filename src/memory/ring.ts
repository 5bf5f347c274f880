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
import { FACT } from '../arithmetic/algorithm.ts'
import { EPOCHS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_BYTES } from './layout.ts'
import * as record from './record.ts'
import { ITS_TIME, NOTHING, recordOf, tagOf } from './record.ts'

export class Ring {
  readonly #words: BigInt64Array
  readonly #firstSlot: number
  readonly #firstCell: number
  readonly #cellsPerSlot: number
  /** The record at the head as `gather` saw it: what `propose` expects. */
  #atHead = 0n
  /** Of the head that `gather` was given: its epoch, its lap, its place in the ring. */
  #epoch = 0
  #lap = 0
  #place = 0

  constructor({ words, firstSlot, firstRing, ringSize }: Arena) {
    this.#words = words
    this.#firstSlot = firstSlot
    this.#firstCell = firstRing
    this.#cellsPerSlot = ringSize
  }

  /**
   * Fills `facts` for a call of `cost` on a slot whose state word has the upper half `hi` and the value `value`; `count`
   * asks for the units in the window too. Returns the units of a call under way at the head, 0 when there is none.
   */
  gather(slot: number, hi: number, terms: Terms, value: number, now: number, cost: number, facts: Facts, count: boolean): number {
    const size = terms.ringSize
    const head = Math.floor(value / EPOCHS)
    const lap = Math.floor(head / size)
    const place = head - lap * size
    const ring = this.#ringOf(slot)
    this.#epoch = value - head * EPOCHS
    this.#lap = lap
    this.#place = place
    this.#atHead = Atomics.load(this.#words, ring + place)
    record.read(this.#atHead)
    if (record.costRead() > 0 && record.bears(tagOf(hi, this.#epoch, lap))) return record.costRead()
    facts[FACT.newest] = this.#timeBefore(ring, hi, terms, 1)
    facts[FACT.oldest] = cost >= 1 && cost <= size ? this.#timeBefore(ring, hi, terms, size + 1 - cost) : -Infinity
    let used = 0
    while (count && used < size && this.#timeBefore(ring, hi, terms, used + 1) + terms.ceiling > now) used++
    facts[FACT.used] = used
    return 0
  }

  /** Writes the record of a call at the head that `gather` saw; false when another thread was first. */
  propose(slot: number, word: bigint, hi: number, terms: Terms, cost: number, now: number, facts: Facts): boolean {
    const words = this.#words
    if (Atomics.load(words, slot) !== word) return false
    const time = Math.max(now, facts[FACT.newest]!)
    if (!this.#clear(slot, word, hi, this.#place + 1, cost - 1, terms.ringSize, time)) return false
    const proposed = recordOf(tagOf(hi, this.#epoch, this.#lap), cost, time)
    return Atomics.compareExchange(words, this.#ringOf(slot) + this.#place, this.#atHead, proposed) === this.#atHead
  }

  /**
   * Says in `facts` to which epoch a refund of `cost` may move on from the state that `gather` saw: one that no record
   * bears at a unit which the head will meet again, else that record would be taken for a call under way; -1 for none.
   */
  chooseEpoch(slot: number, hi: number, terms: Terms, cost: number, facts: Facts): void {
    const size = terms.ringSize
    const ring = this.#ringOf(slot)
    const back = Math.min(cost, facts[FACT.used]!)
    let taken = 1 << this.#epoch
    for (let unit = -back; unit < size - back; unit++) {
      const place = this.#place + unit
      const lap = this.#lap + (place < 0 ? -1 : place < size ? 0 : 1)
      record.read(Atomics.load(this.#words, ring + ((place + size) % size)))
      if (record.costRead() > 0 && record.bearsButEpoch(tagOf(hi, 0, lap))) taken |= 1 << record.epochRead()
    }
    let on = 1
    while (on < EPOCHS && (taken & (1 << ((this.#epoch + on) % EPOCHS))) !== 0) on++
    facts[FACT.epoch] = on === EPOCHS ? -1 : (this.#epoch + on) % EPOCHS
  }

  /**
   * Makes the ring of a slot a new tenant's, before the claim with the word `word`, made at the reading `claimed`, is
   * committed; returns the value to commit. The ring begins with a lap that left the window at the claim: a call with an
   * older reading, stalled since another tenancy of the same key, is refused as it would have been by that one.
   */
  begin(slot: number, word: bigint, hi: number, { ringSize, ceiling }: Terms, claimed: number): number {
    const words = this.#words
    this.#clear(slot, word, hi, 1, ringSize - 1, ringSize, NOTHING)
    const first = this.#ringOf(slot)
    // Where the window reaches back beyond the arena's birth, no other tenancy can have been charged.
    const begun = claimed < ceiling ? 0n : recordOf(tagOf(hi, 0, 0), ringSize, claimed - ceiling)
    const old = Atomics.load(words, first)
    if (old !== begun && Atomics.load(words, slot) === word) Atomics.compareExchange(words, first, old, begun)
    return begun === 0n ? 0 : ringSize * EPOCHS
  }

  /** Clears the records that a refund of `units` left ahead of the head, while the word is still the refund's own. */
  clearRefunded(slot: number, word: bigint, { ringSize }: Terms, units: number): void {
    this.#clear(slot, word, 0, this.#place - units + ringSize, units, ringSize, ITS_TIME)
  }

  /**
   * Clears `count` cells from `place` on while the slot's word is `word`; false when it is not. Each cell is read before
   * the word is checked: a later call or tenant that writes in between changes the cell, and the exchange fails. What
   * stays is a record of no units: of `time`, at which all that was there had left the window; of the time that was there;
   * or nothing.
   */
  #clear(slot: number, word: bigint, hi: number, place: number, count: number, size: number, time: number): boolean {
    const words = this.#words
    const ring = this.#ringOf(slot)
    for (let i = 0; i < count; i++) {
      const at = place + i
      const cell = ring + (at % size)
      const old = Atomics.load(words, cell)
      if (old === 0n) continue
      if (Atomics.load(words, slot) !== word) return false
      Atomics.compareExchange(words, cell, old, record.clearedTo(old, time, tagOf(hi, this.#epoch, this.#lap + (at < size ? 0 : 1))))
    }
    return true
  }

  #ringOf(slot: number): number {
    return this.#firstCell + ((slot - this.#firstSlot) / (SLOT_BYTES / 8)) * this.#cellsPerSlot
  }

  /**
   * The time of the unit `units` before the head, 1 to `size`: that of the nearest record at or before it which reaches
   * it. Where a call of the next lap has written over it, or is about to, the unit had left the window at that call's
   * time, and nothing later is known: a thread whose reading is older may not take it for gone.
   */
  #timeBefore(ring: number, hi: number, { ringSize, ceiling }: Terms, units: number): number {
    let place = this.#place - units
    let lap = this.#lap
    for (let back = 0; back < ringSize; back++, place--) {
      if (place < 0) {
        place += ringSize
        lap--
      }
      if (lap < 0) break
      record.read(back === 0 && units === ringSize ? this.#atHead : Atomics.load(this.#words, ring + place))
      if (record.bearsButEpoch(tagOf(hi, 0, lap + 1)) && record.timeRead() >= 0) return record.timeRead() - ceiling
      if (record.costRead() > back && record.bearsButEpoch(tagOf(hi, 0, lap))) return record.timeRead()
    }
    return -Infinity
  }
}
