/** The places of a log's ring, seen from its head: where they lie, and what the records in them mean. */
import type { Terms } from '../arithmetic/algorithm.ts'
import * as log from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import * as layout from './layout.ts'
import * as record from './record.ts'

// Held here: see cas.ts.
const { headOf, HEADS } = log
const { CHARGE, costRead, GONE, isMany, kindRead, read, REFUND, timeRead } = record
const { STRIDE } = layout

/** The number that a closing of the state `value` bears: not that of the state before, which it may be written over. */
export function closing(value: number): number {
  return (value & HEADS) === 0 ? 0 : 2
}

/** The time of a unit. One that is gone had left the window at the time it bears, and nothing later is known. */
export function timeOf(unit: bigint, { ceiling }: Terms): number {
  read(unit)
  return kindRead() >= CHARGE ? timeRead() : timeRead() - ceiling
}

export class Places {
  private readonly words: BigInt64Array
  private readonly firstSlot: number
  private readonly firstPlace: number
  private readonly placesPerSlot: number
  // Of the state stood at: its ring's first place; its head's, from there, and whether in an odd lap.
  private ring = 0
  private head = 0
  private odd = 0
  /** The place at the head. */
  atHead = 0

  constructor({ words, firstSlot, firstRing, ringSize }: Arena) {
    this.words = words
    this.firstSlot = firstSlot
    this.firstPlace = firstRing
    this.placesPerSlot = ringSize
  }

  /** Stands at the head of the state `value` of a slot; false where it is another ring's, the policy that the word names having been replaced meanwhile. */
  stand(slot: number, value: number, size: number): boolean {
    const head = headOf(value)
    this.ring = this.ringOf(slot)
    this.odd = head < size ? 0 : 1
    this.head = head < size ? head : head - size
    this.atHead = (this.ring + this.head) | 0
    return this.head < size
  }

  /** The units whose window has not passed at `now`. */
  unitsAfter(terms: Terms, now: number): number {
    let used = 0
    while (used < terms.limit && this.timeAt(-1 - used, terms) + terms.ceiling > now) used++
    return used
  }

  /** The time of the unit in the place that is `units` after the head's. */
  timeAt(units: number, terms: Terms): number {
    return timeOf(Atomics.load(this.words, this.placeAt(units, terms.ringSize)), terms)
  }

  /** The place that is `units` after the head's, fewer than a lap either way. */
  placeAt(units: number, size: number): number {
    const at = this.head + units
    return (this.ring + (at < 0 ? at + size : at < size ? at : at - size)) | 0
  }

  /** The kind of a charge `units` after the head: that of its lap. */
  chargeAt(units: number, size: number): number {
    return CHARGE + (this.head + units < size ? this.odd : 1 - this.odd)
  }

  /** True when the record read last, at the head of the state `value`, is a change: else it is what lay there before. */
  isChange(value: number, size: number): boolean {
    const kind = kindRead()
    return kind === REFUND || kind === this.chargeAt(0, size) || (kind === GONE && isMany() && costRead() === closing(value))
  }

  /** The first place of a slot's ring. */
  ringOf(slot: number): number {
    return (this.firstPlace + ((((slot - this.firstSlot) / STRIDE) | 0) * this.placesPerSlot)) | 0
  }
}
