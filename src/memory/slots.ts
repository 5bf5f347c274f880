/**
 * The slots of the group that a key hashes to: two buckets, read in the order of their addresses, and what can be said
 * of a slot from its words.
 */
import type { Facts, Outlook, Terms } from '../arithmetic/algorithm.ts'
import { FACTS } from '../arithmetic/algorithm.ts'
import { begunAt } from '../arithmetic/sliding-window-log.ts'
import type { Arena } from './arena.ts'
import { SLOT_IDENTITY0, SLOT_IDENTITY1, STRIDE } from './layout.ts'
import type { Place } from './place.ts'
import { Ring } from './ring.ts'
import * as word from './word.ts'
import { CLAIM_UNITS_PER_MS, COMMITTED, FREE, TENTATIVE } from './word.ts'

export const NONE = -1
/** Since when a free slot has been full: before all others. */
export const NEVER_TAKEN = -Infinity

export class Slots {
  /** First slot of the group's lower bucket, where reading begins, and of its upper one. */
  low = 0
  high = 0
  /** Where the key goes when it has the choice: its home slot, and the first slot of that one's bucket. */
  home = 0
  homeBucket = 0
  readonly #arena: Arena
  readonly #ring: Ring
  readonly #facts: Facts = new Float64Array(FACTS)
  readonly #outlook: Outlook = { remaining: 0, retryAt: 0, resetAt: 0 }

  constructor(arena: Arena) {
    this.#arena = arena
    this.#ring = new Ring(arena)
  }

  /** Chooses the group of the key at `place`. */
  select({ h0, h1 }: Place): void {
    const { bucketCount, ways, firstSlot } = this.#arena
    const a = Math.floor((h0 >>> 0) * (bucketCount / 4_294_967_296))
    let b = Math.floor((h1 >>> 0) * (bucketCount / 4_294_967_296))
    if (a === b && bucketCount > 1) b = a + 1 === bucketCount ? 0 : a + 1
    // As 32-bit integers: a slot's index in floats would be converted at each access.
    const [first, second] = [(firstSlot + a * ways * STRIDE) | 0, (firstSlot + b * ways * STRIDE) | 0]
    this.low = first < second ? first : second
    this.high = first < second ? second : first
    this.homeBucket = first
    // Bits of the second half that have no part in the choice of its bucket, but in the very largest tables.
    this.home = (first + (((h1 & 0xff) * ways) >>> 8) * STRIDE) | 0
  }

  /** True when the slot is in the home bucket. */
  isHome(slot: number): boolean {
    return slot >= this.high === (this.homeBucket === this.high)
  }

  /** The other bucket's first slot. */
  get otherBucket(): number {
    return this.low + this.high - this.homeBucket
  }

  /** The slot after `slot` in the group, or -1. */
  next(slot: number): number {
    const span = this.#arena.ways * STRIDE
    const next = slot + STRIDE
    if (next === this.low + span && this.high !== this.low) return this.high
    return next === this.high + span ? NONE : next
  }

  /** True when the slot's identity is the key's under the generation in `hi`. */
  bears(slot: number, hi: number, { h0, h1 }: Place): boolean {
    const { cells } = this.#arena
    const mask = word.maskOf(word.generationOf(hi))
    return (
      (Atomics.load(cells, 2 * slot + SLOT_IDENTITY0) ^ mask) === h0 &&
      (Atomics.load(cells, 2 * slot + SLOT_IDENTITY1) ^ mask) === h1
    )
  }

  /**
   * True when the slot may be taken at `ms`: free; committed and full; or claimed in the past and given up. A
   * claim of this very tick is left alone, else two keys could steal one slot from each other for ever.
   */
  isTakeable(slot: number, seen: bigint, ms: number): boolean {
    const hi = word.hiOf(seen)
    const phase = word.phaseOf(hi)
    if (phase === FREE) return true
    if (phase === TENTATIVE) return word.valueOf(seen) < Math.floor((ms - this.#arena.bornMs) * CLAIM_UNITS_PER_MS)
    const { terms } = this.#arena.policies.part(word.policyIndexOf(hi))
    const now = terms.algorithm.reading(terms, ms)
    return this.#isSettled(slot, seen, terms, now) && terms.algorithm.isFull(word.valueOf(seen), terms, now, this.#facts)
  }

  /** Reads the facts of a slot's ring, if it has one; false when the slot has changed, or a change was under way on it. */
  #isSettled(slot: number, seen: bigint, terms: Terms, now: number): boolean {
    return terms.ringSize === 0 || this.#ring.gather(slot, seen, word.valueOf(seen), terms, now, 0, this.#facts, false)
  }

  /** The reading at which the bucket in a slot is full. */
  resetAt(slot: number, seen: bigint, terms: Terms, now: number): number {
    if (!this.#isSettled(slot, seen, terms, now)) this.#facts.fill(-Infinity)
    terms.algorithm.describe(word.valueOf(seen), terms, now, 0, this.#outlook, this.#facts)
    return this.#outlook.resetAt
  }

  /** The clock reading since when a slot that can be taken has been full, so far as it shows. */
  fullSince(slot: number, seen: bigint): number {
    const hi = word.hiOf(seen)
    const phase = word.phaseOf(hi)
    if (phase === FREE) return NEVER_TAKEN
    if (phase === TENTATIVE) return this.#arena.bornMs + word.valueOf(seen) / CLAIM_UNITS_PER_MS
    const { terms } = this.#arena.policies.part(word.policyIndexOf(hi))
    return terms.algorithm.whenMs(terms, this.resetAt(slot, seen, terms, 0))
  }

  /** Makes the ring of a slot whose claim is `held` a new tenant's; the value to commit, or -1 when another thread was first. */
  beginRing(slot: number, held: bigint, terms: Terms, claimed: number): number {
    const claim = word.valueOf(held)
    return this.#ring.begin(slot, terms, claimed) ? begunAt(claim) : -1
  }

  /** Exchanges the word `seen` of a slot for one of another tenancy or policy; false when another thread was first. */
  exchange(slot: number, seen: bigint, next: bigint): boolean {
    const hi = word.hiOf(seen)
    if (word.phaseOf(hi) === COMMITTED) {
      const { terms } = this.#arena.policies.part(word.policyIndexOf(hi))
      if (terms.ringSize !== 0 && !this.#ring.close(slot, seen, word.valueOf(seen), terms, this.#facts)) return false
    }
    return Atomics.compareExchange(this.#arena.words, slot, seen, next) === seen
  }

  /** Frees a slot that still holds `seen`, keeping its value: a helper's commit of the old word then fails. */
  free(slot: number, seen: bigint): boolean {
    const hi = word.hiOf(seen)
    return this.exchange(slot, seen, word.wordOf(word.hiFrom(word.generationOf(hi), word.policyIndexOf(hi), FREE), word.valueOf(seen)))
  }

  /** The policy that the key's bucket at its place has, where that is not the place's; else 0. */
  stalePolicy(place: Place): number {
    const hi = word.hiOf(Atomics.load(this.#arena.words, place.slot))
    const theirs = word.policyIndexOf(hi)
    return word.phaseOf(hi) === COMMITTED && theirs !== place.policy && this.bears(place.slot, hi, place) ? theirs : 0
  }
}
