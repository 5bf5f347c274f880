/**
 * The records of a sliding window log: for each slot a ring of `limit` words, the record of a call in the cell of
 * its first unit.
 *
 *   63  61 60   58 57 56 55      46 45                           0
 *   gen    epoch   lap    cost          time + 1; the whole word 0: none
 *
 * A call at head n writes its record into cell `n mod limit` and then moves the head by its cost, each by one
 * compareExchange. A record at the head, of this generation, epoch and lap, is a call under way: anyone who meets it
 * moves the head for it, so a thread stopped between the two holds nobody up. The head's move is the linearization
 * point. Cells inside a record of several units are cleared first, to records of no units, so that no cell is older than a lap; and all cells
 * before a new tenant's slot is committed, since three bits of generation come round soon.
 */
import type { Facts, Terms } from '../arithmetic/algorithm.ts'
import { FACT } from '../arithmetic/algorithm.ts'
import { EPOCHS, TIME_BITS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_BYTES } from './layout.ts'
import { generationOf } from './word.ts'

const TIME_HI_BITS = TIME_BITS - 32
const TIME_HI_MASK = (1 << TIME_HI_BITS) - 1
const COST_MASK = 0x3ff
const TAG_SHIFT = TIME_HI_BITS + 10
const LAP_MASK = 3
const EPOCH_SHIFT = 2
const EPOCH_MASK = EPOCHS - 1
const TWO_32 = 4_294_967_296

/** What a cleared cell keeps, besides a time. */
const NOTHING = -1
const ITS_TIME = -2

const bytes = new ArrayBuffer(8)
const asBig = new BigInt64Array(bytes)
const asInt = new Int32Array(bytes)

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
    asBig[0] = this.#atHead
    const underWay = (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
    if (underWay > 0 && asInt[1]! >>> TAG_SHIFT === tagOf(hi, this.#epoch, lap)) return underWay
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
    const record = recordOf(tagOf(hi, this.#epoch, this.#lap), cost, time)
    return Atomics.compareExchange(words, this.#ringOf(slot) + this.#place, this.#atHead, record) === this.#atHead
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
      asBig[0] = Atomics.load(this.#words, ring + ((place + size) % size))
      const tag = asInt[1]! >>> TAG_SHIFT
      if (costRead() > 0 && ((tag ^ tagOf(hi, 0, lap)) & ~(EPOCH_MASK << EPOCH_SHIFT)) === 0) taken |= 1 << ((tag >>> EPOCH_SHIFT) & EPOCH_MASK)
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
    const record = claimed < ceiling ? 0n : recordOf(tagOf(hi, 0, 0), ringSize, claimed - ceiling)
    const old = Atomics.load(words, first)
    if (old !== record && Atomics.load(words, slot) === word) Atomics.compareExchange(words, first, old, record)
    return record === 0n ? 0 : ringSize * EPOCHS
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
      Atomics.compareExchange(words, cell, old, clearedTo(old, time, tagOf(hi, this.#epoch, this.#lap + (at < size ? 0 : 1))))
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
      asBig[0] = back === 0 && units === ringSize ? this.#atHead : Atomics.load(this.#words, ring + place)
      const tag = asInt[1]! >>> TAG_SHIFT
      if (((tag ^ tagOf(hi, 0, lap + 1)) & ~(EPOCH_MASK << EPOCH_SHIFT)) === 0 && timeRead() >= 0) return timeRead() - ceiling
      if (costRead() > back && ((tag ^ tagOf(hi, 0, lap)) & ~(EPOCH_MASK << EPOCH_SHIFT)) === 0) return timeRead()
    }
    return -Infinity
  }
}

/** The time of the record in the private word; -1 for none. */
function timeRead(): number {
  return (asInt[1]! & TIME_HI_MASK) * TWO_32 + (asInt[0]! >>> 0) - 1
}

function costRead(): number {
  return (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
}

/** What stays of `old` where it is cleared: see `#clear`. */
function clearedTo(old: bigint, time: number, tag: number): bigint {
  if (time === NOTHING) return 0n
  if (time !== ITS_TIME) return recordOf(tag, 0, time)
  asBig[0] = old
  asInt[1] = asInt[1]! & ~(COST_MASK << TIME_HI_BITS)
  return asBig[0]
}

/** A record from its parts. */
function recordOf(tag: number, cost: number, time: number): bigint {
  const stored = time + 1
  asInt[0] = stored | 0
  asInt[1] = (tag << TAG_SHIFT) | (cost << TIME_HI_BITS) | (stored / TWO_32)
  return asBig[0]!
}

/** Generation, epoch and lap of a record. */
function tagOf(hi: number, epoch: number, lap: number): number {
  return ((generationOf(hi) & 7) << 5) | (epoch << EPOCH_SHIFT) | (lap & LAP_MASK)
}
