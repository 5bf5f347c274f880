/**
 * The records of a sliding window log: for each slot a ring of `limit` words, the record of a call in the cell of
 * its first unit.
 *
 *   63  61 60   57 56 55 54      45 44                           0
 *   gen    epoch   lap    cost          time + 1; the whole word 0: none
 *
 * A call at head n writes its record into cell `n mod limit` and then moves the head by its cost, each by one
 * compareExchange. A record at the head, of this generation, epoch and lap, is a call under way: anyone who meets it
 * moves the head for it, so a thread stopped between the two holds nobody up. The head's move is the linearization
 * point. Cells inside a record of several units are cleared first, so that no cell is older than a lap; and all cells
 * before a new tenant's slot is committed, since three bits of generation come round soon.
 */
import { STATE, type State, type Terms } from '../arithmetic/algorithm.ts'
import { EPOCHS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_BYTES } from './layout.ts'
import { generationOf } from './word.ts'

const TIME_HI_BITS = 13
const TIME_HI_MASK = (1 << TIME_HI_BITS) - 1
const COST_MASK = 0x3ff
const TAG_SHIFT = TIME_HI_BITS + 10
const LAP_MASK = 3
const EPOCH_SHIFT = 2
const EPOCH_MASK = EPOCHS - 1
const TWO_32 = 4_294_967_296

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

  constructor({ words, firstSlot, firstRing, ringSize }: Arena) {
    this.#words = words
    this.#firstSlot = firstSlot
    this.#firstCell = firstRing
    this.#cellsPerSlot = ringSize
  }

  /**
   * Fills the cells of `state` after the first for a call of `cost` on a slot whose state word has the upper half `hi`
   * and whose value is in `state[0]`; `count` asks for the units in the window too. Returns the units of a call
   * under way at the head, 0 when there is none.
   */
  gather(slot: number, hi: number, terms: Terms, now: number, cost: number, state: State, count: boolean): number {
    const head = Math.floor(state[0]! / EPOCHS)
    const size = terms.ringSize
    this.#atHead = Atomics.load(this.#words, this.#cell(slot, head, size))
    asBig[0] = this.#atHead
    const underWay = (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
    if (underWay > 0 && asInt[1]! >>> TAG_SHIFT === tagOf(hi, state[0]! % EPOCHS, head, size)) return underWay
    state[STATE.newest] = this.#timeOf(slot, hi, head - 1, size)
    state[STATE.oldest] = this.#timeOf(slot, hi, head + cost - 1 - size, size)
    let used = 0
    while (count && used < size && this.#timeOf(slot, hi, head - 1 - used, size) + terms.ceiling > now) used++
    state[STATE.used] = used
    return 0
  }

  /** Writes the record of a call at the head that `gather` saw; false when another thread was first. */
  propose(slot: number, hi: number, terms: Terms, value: number, cost: number, time: number): boolean {
    const size = terms.ringSize
    const head = Math.floor(value / EPOCHS)
    for (let unit = 1; unit < cost; unit++) {
      const cell = this.#cell(slot, head + unit, size)
      const old = Atomics.load(this.#words, cell)
      if (old !== 0n) Atomics.compareExchange(this.#words, cell, old, 0n)
    }
    const stored = time + 1
    asInt[0] = stored | 0
    asInt[1] = (tagOf(hi, value % EPOCHS, head, size) << TAG_SHIFT) | (cost << TIME_HI_BITS) | (stored / TWO_32)
    const record = asBig[0]!
    return Atomics.compareExchange(this.#words, this.#cell(slot, head, size), this.#atHead, record) === this.#atHead
  }

  /**
   * Says in `state` to which epoch a refund of `cost` may move on from the state that `gather` saw: one that no record
   * bears at a unit which the head will meet again, else that record would be taken for a call under way; -1 for none.
   */
  chooseEpoch(slot: number, hi: number, terms: Terms, cost: number, state: State): void {
    const size = terms.ringSize
    const epoch = state[0]! % EPOCHS
    const head = Math.floor(state[0]! / EPOCHS) - Math.min(cost, state[STATE.used]!)
    let taken = 1 << epoch
    for (let unit = head; unit < head + size; unit++) {
      asBig[0] = Atomics.load(this.#words, this.#cell(slot, unit, size))
      const tag = asInt[1]! >>> TAG_SHIFT
      const here = ((tag ^ tagOf(hi, 0, unit, size)) & ~(EPOCH_MASK << EPOCH_SHIFT)) === 0
      if (here) taken |= 1 << ((tag >>> EPOCH_SHIFT) & EPOCH_MASK)
    }
    let on = 1
    while (on < EPOCHS && (taken & (1 << ((epoch + on) % EPOCHS))) !== 0) on++
    state[STATE.epoch] = on === EPOCHS ? -1 : (epoch + on) % EPOCHS
  }

  /**
   * Clears what former tenants of a slot left, before it is committed to a new one. They were full, so their records
   * are older than any of the new tenant's: a thread that comes late with this clears nothing of those.
   */
  clear(slot: number, { ringSize }: Terms): void {
    for (let unit = 0; unit < ringSize; unit++) {
      const cell = this.#cell(slot, unit, ringSize)
      const old = Atomics.load(this.#words, cell)
      if (old !== 0n) Atomics.compareExchange(this.#words, cell, old, 0n)
    }
  }

  #cell(slot: number, unit: number, size: number): number {
    return this.#firstCell + ((slot - this.#firstSlot) / (SLOT_BYTES / 8)) * this.#cellsPerSlot + (unit % size)
  }

  /** The time of one unit: that of the nearest record at or before it which reaches it. */
  #timeOf(slot: number, hi: number, unit: number, size: number): number {
    for (let back = 0; back < size && unit - back >= 0; back++) {
      const start = unit - back
      asBig[0] = Atomics.load(this.#words, this.#cell(slot, start, size))
      const cost = (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
      const tag = asInt[1]! >>> TAG_SHIFT
      if (cost <= back || ((tag ^ tagOf(hi, 0, start, size)) & ~(EPOCH_MASK << EPOCH_SHIFT)) !== 0) continue
      return (asInt[1]! & TIME_HI_MASK) * TWO_32 + (asInt[0]! >>> 0) - 1
    }
    return -Infinity
  }
}

/** Generation, epoch and lap of a record that begins at `unit`. */
function tagOf(hi: number, epoch: number, unit: number, size: number): number {
  return ((generationOf(hi) & 7) << 6) | (epoch << EPOCH_SHIFT) | (Math.floor(unit / size) & LAP_MASK)
}
