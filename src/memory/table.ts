/**
 * Key to slot in fixed memory, without a lock.
 *
 * A key hashes to a group of two buckets of 8 slots; a look-up reads the whole group, so there are no chains and
 * no tombstones. A slot belongs to a key when its state is committed and its identity, unmasked by the state's
 * generation, is the key's.
 */
import { waitMs } from '../arithmetic/algorithm.ts'
import type { Arena } from './arena.ts'
import * as layout from './layout.ts'
import type { Place } from './place.ts'
import type { Slots } from './slots.ts'
import * as slots from './slots.ts'
import * as word from './word.ts'

// Held here: see cas.ts.
const { SLOT_IDENTITY0, SLOT_IDENTITY1, SLOT_STATE_HI, STRIDE } = layout
const { NONE } = slots
const { COMMITTED, FREE, generationOf, maskOf, TENTATIVE } = word

/** A bound that only a fault reaches. */
const MOST_ROUNDS = 1 << 10

export class Table {
  readonly #arena: Arena
  readonly #slots: Slots

  constructor(arena: Arena, slots: Slots) {
    this.#arena = arena
    this.#slots = slots
  }

  /** Sets `place.slot` to a slot that seems to be the key's, or -1. Reads plainly: a hint, which may be wrong either way. */
  find(place: Place): boolean {
    const group = this.#slots
    group.select(place)
    let slot = this.#scan(place, group.home, 1)
    if (slot === NONE) slot = this.#scan(place, group.homeBucket, this.#arena.ways)
    if (slot === NONE) slot = this.#scan(place, group.otherBucket, this.#arena.ways)
    place.slot = slot
    return slot !== NONE
  }

  /** The slot, of `count` from `slot` on, that seems to be the key's, or -1. */
  #scan({ h0, h1 }: Place, slot: number, count: number): number {
    const { cells } = this.#arena
    for (let end = slot + count * STRIDE; slot < end; slot += STRIDE) {
      const mask = maskOf(generationOf(cells[2 * slot + SLOT_STATE_HI]!))
      if ((cells[2 * slot + SLOT_IDENTITY0]! ^ mask) === h0 && (cells[2 * slot + SLOT_IDENTITY1]! ^ mask) === h1) return slot
    }
    return NONE
  }

  /** Sets `place.slot` to the committed slot of the key, or -1, by atomic reads. */
  search(place: Place): boolean {
    this.#slots.select(place)
    for (let slot = this.#slots.low; slot !== NONE; slot = this.#slots.next(slot)) {
      const hi = word.hiOf(Atomics.load(this.#arena.words, slot))
      if (word.phaseOf(hi) === COMMITTED && this.#slots.bears(slot, hi, place)) {
        place.slot = slot
        return true
      }
    }
    place.slot = NONE
    return false
  }

  /** The least wait, in milliseconds from `rawMs`, until a slot of the key's group can be had. */
  waitForSlot(place: Place, rawMs: number): number {
    let least = Infinity
    this.#slots.select(place)
    for (let slot = this.#slots.low; slot !== NONE; slot = this.#slots.next(slot)) {
      const seen = Atomics.load(this.#arena.words, slot)
      if (word.phaseOf(word.hiOf(seen)) !== COMMITTED) continue
      const { terms } = this.#arena.policies.part(word.policyIndexOf(word.hiOf(seen)))
      least = Math.min(least, waitMs(terms, rawMs, this.#slots.resetAt(slot, seen, terms, 0)))
    }
    return Math.max(1, least)
  }

  /**
   * Moves every bucket that bears a policy which its tier had before to the one that it has now, and frees old claims;
   * returns the indices of the policies that slots bore before or after.
   */
  settle(ms: number): Set<number> {
    const { words, firstSlot, endSlot, policies, tierCount } = this.#arena
    const borne = new Set<number>()
    const { version } = policies
    const heirs = policies.heirs(tierCount)
    for (let slot = firstSlot; slot < endSlot; slot += STRIDE) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      const phase = word.phaseOf(hi)
      if (phase === FREE || (phase === TENTATIVE && this.#slots.isTakeable(slot, seen, ms) && this.#slots.free(slot, seen))) continue
      const from = word.policyIndexOf(hi)
      borne.add(from)
      if (phase === TENTATIVE || from === heirs[from]) continue
      this.convert(slot, from, heirs[from]!, ms, version)
      borne.add(word.policyIndexOf(word.hiOf(Atomics.load(words, slot))))
    }
    return borne
  }

  /**
   * Moves one bucket of the policy at `from` to the one at `to`, which took its place as of `version`; it keeps the fraction
   * that it had used. Left to others where policies have changed since: both indices may mean something else.
   */
  convert(slot: number, from: number, to: number, ms: number, version: number): void {
    const { words, policies } = this.#arena
    if (from === to || policies.version !== version) return
    const [old, next] = [policies.part(from).terms, policies.part(to).terms]
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) !== COMMITTED || word.policyIndexOf(hi) !== from || policies.version !== version) return
      const value = next.algorithm.convert(word.valueOf(seen), old, next, ms)
      const converted = word.wordOf(word.hiFrom(word.generationOf(hi), to, COMMITTED), value)
      if (this.#slots.exchange(slot, seen, converted)) return
    }
  }

  /** Frees every slot that is full at `ms`; returns how many. */
  sweep(ms: number): number {
    const { words, firstSlot, endSlot } = this.#arena
    let freed = 0
    for (let slot = firstSlot; slot < endSlot; slot += STRIDE) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) !== FREE && this.#slots.isTakeable(slot, seen, ms) && this.#slots.free(slot, seen)) freed++
    }
    return freed
  }

  /** Slots that hold a key now. May be outdated on return. */
  keys(): number {
    const { words, firstSlot, endSlot } = this.#arena
    let keys = 0
    for (let slot = firstSlot; slot < endSlot; slot += STRIDE) {
      if (word.phaseOf(word.hiOf(Atomics.load(words, slot))) === COMMITTED) keys++
    }
    return keys
  }
}
