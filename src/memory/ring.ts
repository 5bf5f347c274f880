/**
 * The records of a sliding window log: for each slot a ring of `limit` words, the record of a call in the cell of
 * its first unit.
 *
 *   63  61 60  59 58 57 56      47 46                            0
 *   gen    epoch  lap    cost          time + 1; the whole word 0: none
 *
 * A call at head n writes its record into cell `n mod limit` and then moves the head by its cost, each by one
 * compareExchange. A record at the head, of this generation, epoch and lap, is a call under way: anyone who meets it
 * moves the head for it, so a thread stopped between the two holds nobody up. The head's move is the linearization
 * point. Cells inside a record of several units are cleared first, so that no cell is older than a lap.
 */
import type { Facts, Terms } from '../arithmetic/algorithm.ts'
import { FACT } from '../arithmetic/algorithm.ts'
import { EPOCHS } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_BYTES } from './layout.ts'
import { generationOf } from './word.ts'

const TIME_HI_BITS = 15
const TIME_HI_MASK = (1 << TIME_HI_BITS) - 1
const COST_MASK = 0x3ff
const TAG_SHIFT = TIME_HI_BITS + 10
const LAP_MASK = 3
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
   * Fills `facts` for a call of `cost` on a slot whose state word has the upper half `hi` and the value `value`; `count`
   * asks for the units in the window too. Returns the units of a call under way at the head, 0 when there is none.
   */
  gather(slot: number, hi: number, terms: Terms, value: number, now: number, cost: number, facts: Facts, count: boolean): number {
    const head = Math.floor(value / EPOCHS)
    const size = terms.ringSize
    this.#atHead = Atomics.load(this.#words, this.#cell(slot, head, size))
    asBig[0] = this.#atHead
    const underWay = (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
    if (underWay > 0 && asInt[1]! >>> TAG_SHIFT === tagOf(hi, value % EPOCHS, head, size)) return underWay
    facts[FACT.newest] = this.#timeOf(slot, hi, head - 1, size)
    facts[FACT.oldest] = this.#timeOf(slot, hi, head + cost - 1 - size, size)
    let used = 0
    while (count && used < size && this.#timeOf(slot, hi, head - 1 - used, size) + terms.ceiling > now) used++
    facts[FACT.used] = used
    return 0
  }

  /**
   * Writes the record of a call at the head that `gather` saw; false when another thread was first. Each cell is read
   * before the slot's word is checked: a later call or tenant that writes in between changes the cell, and the
   * exchange fails instead of wiping out its record.
   */
  propose(slot: number, word: bigint, hi: number, terms: Terms, value: number, cost: number, now: number, facts: Facts): boolean {
    if (Atomics.load(this.#words, slot) !== word) return false
    const size = terms.ringSize
    const head = Math.floor(value / EPOCHS)
    for (let unit = 1; unit < cost; unit++) {
      const cell = this.#cell(slot, head + unit, size)
      const old = Atomics.load(this.#words, cell)
      if (Atomics.load(this.#words, slot) !== word) return false
      if (old !== 0n) Atomics.compareExchange(this.#words, cell, old, 0n)
    }
    const stored = Math.max(now, facts[FACT.newest]!) + 1
    asInt[0] = stored | 0
    asInt[1] = (tagOf(hi, value % EPOCHS, head, size) << TAG_SHIFT) | (cost << TIME_HI_BITS) | (stored / TWO_32)
    const record = asBig[0]!
    return Atomics.compareExchange(this.#words, this.#cell(slot, head, size), this.#atHead, record) === this.#atHead
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
      if (cost <= back || ((tag ^ tagOf(hi, 0, start, size)) & ~(LAP_MASK << 2)) !== 0) continue
      return (asInt[1]! & TIME_HI_MASK) * TWO_32 + (asInt[0]! >>> 0) - 1
    }
    return -Infinity
  }
}

/** Generation, epoch and lap of a record that begins at `unit`. */
function tagOf(hi: number, epoch: number, unit: number, size: number): number {
  return ((generationOf(hi) & 7) << 4) | (epoch << 2) | (Math.floor(unit / size) & LAP_MASK)
}
