/**
 * Key to slot in fixed memory, without a lock.
 *
 * A key hashes to a group of two buckets of 8 slots; a look-up reads the whole group, so there are no chains and
 * no tombstones. A slot belongs to a key when its state is committed and its identity, unmasked by the state's
 * generation, is the key's. A new key is inserted in five moves, each one compareExchange:
 *
 *   claim    a free or full slot's state becomes [generation + 1, tentative]
 *   publish  the identity cells become the key's, unless the slot has a newer tenant
 *   scan     the whole group: a committed twin is used instead; a tentative twin lower down is adopted and the
 *            scan begins anew; one higher up is freed
 *   read     the clock again: what other threads reclaimed meanwhile was full at a time no later than this
 *   commit   the state becomes [committed], the call's own charge folded in. This is the linearization point
 *
 * Any thread with the same key may scan and commit what another claimed, so a thread stopped for ever between
 * two moves holds nobody up (G8); its slot is claimed anew as soon as the clock has passed the claim. Both
 * claimants of one key publish before they scan, so at least one sees the other (G3).
 */
import type { Outlook, Step, Terms } from '../arithmetic/algorithm.ts'
import { STATE_CELLS, waitMs } from '../arithmetic/algorithm.ts'
import type { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import type { Driver, Verdict } from './cas.ts'
import { CONTENDED, DONE, MISS, REFUSED } from './cas.ts'
import { SLOT_BYTES, SLOT_IDENTITY0, SLOT_IDENTITY1, SLOT_STATE_HI, TALLY } from './layout.ts'
import type { Place } from './place.ts'
import { Ring } from './ring.ts'
import type { Tally } from './tally.ts'
import * as word from './word.ts'
import { CLAIM_UNITS_PER_MS, COMMITTED, FREE, TENTATIVE } from './word.ts'

/** No slot could be had. */
export const FULL = 4
export type TableVerdict = Verdict | typeof FULL

const STRIDE = SLOT_BYTES / 8
const NONE = -1
/** A bound that only a fault reaches. */
const MOST_ROUNDS = 1 << 10
/** Rounds for which a group without a slot is looked at again, while a claim in it is not yet settled. */
const PATIENCE = 64

export class Table {
  readonly #arena: Arena
  readonly #driver: Driver
  readonly #tally: Tally
  readonly #ring: Ring
  readonly #scratch = new Float64Array(STATE_CELLS)
  readonly #outlook: Outlook = { remaining: 0, retryAt: 0, resetAt: 0 }
  /** First slots of the group's buckets, in order, and the end of each. */
  #low = 0
  #high = 0
  #victim = NONE
  /** True when the last survey met a claim that could be neither used nor taken. */
  #unsettled = false

  constructor(arena: Arena, driver: Driver, tally: Tally) {
    this.#arena = arena
    this.#driver = driver
    this.#tally = tally
    this.#ring = new Ring(arena)
  }

  /** Sets `place.slot` to a slot that seems to be the key's, or -1. Reads plainly: a hint, which may be wrong either way. */
  find(place: Place): boolean {
    const { cells } = this.#arena
    const { h0, h1 } = place
    this.#selectGroup(place)
    for (let slot = this.#low; slot !== NONE; slot = this.#next(slot)) {
      const mask = word.maskOf(word.generationOf(cells[2 * slot + SLOT_STATE_HI]!))
      if ((cells[2 * slot + SLOT_IDENTITY0]! ^ mask) === h0 && (cells[2 * slot + SLOT_IDENTITY1]! ^ mask) === h1) {
        place.slot = slot
        return true
      }
    }
    place.slot = NONE
    return false
  }

  /** Sets `place.slot` to the committed slot of the key, or -1, by atomic reads. */
  search(place: Place): boolean {
    this.#selectGroup(place)
    for (let slot = this.#low; slot !== NONE; slot = this.#next(slot)) {
      const hi = word.hiOf(Atomics.load(this.#arena.words, slot))
      if (word.phaseOf(hi) === COMMITTED && this.#bears(slot, hi, place)) {
        place.slot = slot
        return true
      }
    }
    place.slot = NONE
    return false
  }

  /**
   * Applies `step` to the key's bucket, which is made full if it is nowhere. `step` must accept a full bucket. MISS
   * when the bucket is there under another policy than `policy`.
   */
  insert(place: Place, policy: number, terms: Terms, step: Step, reader: Reader, cost: number): TableVerdict {
    const { words, bornMs } = this.#arena
    this.#selectGroup(place)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let slot = this.#survey(place, reader.ms)
      if (slot === NONE) {
        if (this.#victim === NONE) {
          // A claim of this tick may become this key's own, or be let go; or its thread is dead, and it ages.
          if (!this.#unsettled || round >= PATIENCE) return FULL
          reader.read()
          continue
        }
        slot = this.#claim(this.#victim, place, policy, reader.ms)
        if (slot === NONE) continue
      }
      slot = this.#settle(slot, place)
      if (slot === NONE) continue
      // The word read before the scan that settled it: had anyone touched the slot since, the commit would fail.
      const held = this.#held
      const hi = word.hiOf(held)
      // A charge is never older than the claim: the claimant may have been ahead of this thread's clock.
      const claimMs = word.phaseOf(hi) === TENTATIVE ? bornMs + word.valueOf(held) / CLAIM_UNITS_PER_MS : 0
      const now = (this.#driver.now[0] = terms.algorithm.reading(terms, Math.max(reader.read(), claimMs)))
      place.slot = slot
      if (word.phaseOf(hi) === TENTATIVE) {
        const state = this.#driver.state
        state[0] = terms.algorithm.fresh(terms, now)
        // A ring takes no charge before its slot is committed: it is committed full, and charged like any other.
        const charge = terms.ringSize === 0
        if (charge && !step(state, 0, terms, now, cost)) return REFUSED
        const committed = word.wordOf(word.hiFrom(word.generationOf(hi), policy, COMMITTED), state[0])
        if (Atomics.compareExchange(words, slot, held, committed) !== held) continue
        if (charge) return DONE
      }
      const verdict = this.#driver.transact(place, policy, terms, step, cost)
      if (verdict !== MISS) return verdict
      if (this.stalePolicy(place, policy) !== 0) return MISS
    }
    this.#tally.count(TALLY.contended)
    return CONTENDED
  }

  /** The least wait, in milliseconds from `rawMs`, until a slot of the key's group can be had. */
  waitForSlot(place: Place, rawMs: number): number {
    let least = Infinity
    this.#selectGroup(place)
    for (let slot = this.#low; slot !== NONE; slot = this.#next(slot)) {
      const seen = Atomics.load(this.#arena.words, slot)
      if (word.phaseOf(word.hiOf(seen)) !== COMMITTED) continue
      const { terms } = this.#arena.policies.part(word.policyIndexOf(word.hiOf(seen)))
      least = Math.min(least, waitMs(terms, rawMs, this.#resetAt(slot, seen, terms, 0)))
    }
    return Math.max(1, least)
  }

  /** Moves every bucket of the policy at `from` to the policy at `to`. */
  convertAll(from: number, to: number, ms: number): void {
    const { firstSlot, endSlot } = this.#arena
    for (let slot = firstSlot; slot < endSlot; slot += STRIDE) this.convert(slot, from, to, ms)
  }

  /** Moves one bucket of the policy at `from` to the policy at `to`; it keeps the fraction that it had used. */
  convert(slot: number, from: number, to: number, ms: number): void {
    const { words, policies } = this.#arena
    if (from === to) return
    const [old, next] = [policies.part(from).terms, policies.part(to).terms]
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) !== COMMITTED || word.policyIndexOf(hi) !== from) return
      const value = next.algorithm.convert(word.valueOf(seen), old, next, ms)
      const converted = word.wordOf(word.hiFrom(word.generationOf(hi), to, COMMITTED), value)
      if (Atomics.compareExchange(words, slot, seen, converted) === seen) return
    }
  }

  /** The policy that the key's bucket at its place has, where that is not `policy`; else 0. */
  stalePolicy(place: Place, policy: number): number {
    const hi = word.hiOf(Atomics.load(this.#arena.words, place.slot))
    const theirs = word.policyIndexOf(hi)
    return word.phaseOf(hi) === COMMITTED && theirs !== policy && this.#bears(place.slot, hi, place) ? theirs : 0
  }

  /** Frees every slot that is full at `ms`; returns how many. */
  sweep(ms: number): number {
    const { words, firstSlot, endSlot } = this.#arena
    let freed = 0
    for (let slot = firstSlot; slot < endSlot; slot += STRIDE) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) !== FREE && this.#isTakeable(slot, seen, ms) && this.#free(slot, seen)) freed++
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

  #held = 0n

  #selectGroup({ h0, h1 }: Place): void {
    const { bucketCount, ways, firstSlot } = this.#arena
    const a = Math.floor((h0 >>> 0) * (bucketCount / 4_294_967_296))
    let b = Math.floor((h1 >>> 0) * (bucketCount / 4_294_967_296))
    if (a === b && bucketCount > 1) b = a + 1 === bucketCount ? 0 : a + 1
    const bytes = ways * STRIDE
    this.#low = firstSlot + Math.min(a, b) * bytes
    this.#high = firstSlot + Math.max(a, b) * bytes
  }

  /** The slot after `slot` in the group, or -1. */
  #next(slot: number): number {
    const span = this.#arena.ways * STRIDE
    const next = slot + STRIDE
    if (next === this.#low + span && this.#high !== this.#low) return this.#high
    return next === this.#high + span ? NONE : next
  }

  /** True when the slot's identity is the key's under the generation in `hi`. */
  #bears(slot: number, hi: number, { h0, h1 }: Place): boolean {
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
  #isTakeable(slot: number, seen: bigint, ms: number): boolean {
    const hi = word.hiOf(seen)
    const phase = word.phaseOf(hi)
    if (phase === FREE) return true
    if (phase === TENTATIVE) return word.valueOf(seen) < Math.floor((ms - this.#arena.bornMs) * CLAIM_UNITS_PER_MS)
    const { terms } = this.#arena.policies.part(word.policyIndexOf(hi))
    const now = terms.algorithm.reading(terms, ms)
    return this.#fill(slot, seen, terms, now) && terms.algorithm.isFull(this.#scratch, 0, terms, now)
  }

  /** Reads the state in a slot's word into `#scratch`; false when a call is under way on its ring. */
  #fill(slot: number, seen: bigint, terms: Terms, now: number): boolean {
    this.#scratch[0] = word.valueOf(seen)
    return terms.ringSize === 0 || this.#ring.gather(slot, word.hiOf(seen), terms, now, 0, this.#scratch, false) === 0
  }

  /** The reading at which the bucket in a slot is full. */
  #resetAt(slot: number, seen: bigint, terms: Terms, now: number): number {
    this.#fill(slot, seen, terms, now)
    terms.algorithm.describe(this.#scratch, 0, terms, now, 0, this.#outlook)
    return this.#outlook.resetAt
  }

  /**
   * The key's slot, committed or tentative, or -1. Then `#victim` is the slot to claim: a free one of the bucket that
   * has more of them, which keeps buckets level; else the one that has been full for longest.
   */
  #survey(place: Place, ms: number): number {
    const { words } = this.#arena
    let [lowFree, highFree, lowFirst, highFirst, oldest] = [0, 0, NONE, NONE, NONE]
    let since = Infinity
    this.#unsettled = false
    for (let slot = this.#low; slot !== NONE; slot = this.#next(slot)) {
      const seen = Atomics.load(words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) === FREE) {
        if (slot < this.#high) {
          if (lowFree++ === 0) lowFirst = slot
        } else if (highFree++ === 0) highFirst = slot
        continue
      }
      if (this.#bears(slot, hi, place)) return slot
      if (!this.#isTakeable(slot, seen, ms)) {
        if (word.phaseOf(hi) === TENTATIVE) this.#unsettled = true
        continue
      }
      const { terms } = this.#arena.policies.part(word.policyIndexOf(hi))
      const fullMs = terms.algorithm.whenMs(terms, this.#resetAt(slot, seen, terms, 0))
      if (fullMs >= since) continue
      since = fullMs
      oldest = slot
    }
    this.#victim = lowFree + highFree === 0 ? oldest : lowFree >= highFree ? lowFirst : highFirst
    return NONE
  }

  /** Claims the victim and publishes the key on it; the slot, or -1 when another thread was first. */
  #claim(slot: number, { h0, h1 }: Place, policy: number, ms: number): number {
    const { words } = this.#arena
    const seen = Atomics.load(words, slot)
    if (!this.#isTakeable(slot, seen, ms)) return NONE
    const generation = (word.generationOf(word.hiOf(seen)) + 1) & 0x7f
    const claimTime = Math.ceil((ms - this.#arena.bornMs) * CLAIM_UNITS_PER_MS)
    const claimed = word.wordOf(word.hiFrom(generation, policy, TENTATIVE), claimTime)
    if (Atomics.compareExchange(words, slot, seen, claimed) !== seen) return NONE
    if (word.phaseOf(word.hiOf(seen)) === COMMITTED) this.#tally.count(TALLY.reclaimed)
    const mask = word.maskOf(generation)
    const published =
      this.#publish(slot, claimed, SLOT_IDENTITY0, h0 ^ mask) && this.#publish(slot, claimed, SLOT_IDENTITY1, h1 ^ mask)
    return published ? slot : NONE
  }

  /**
   * Writes one identity cell while the slot is still `claimed`; false when it is not. The old value is read
   * before the state is checked: a tenant that publishes in between changes the cell and the exchange fails. Both
   * cells are masked with the generation, so it does change, even for a key that had the slot before.
   */
  #publish(slot: number, claimed: bigint, offset: number, value: number): boolean {
    const { words, cells } = this.#arena
    const at = 2 * slot + offset
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const old = Atomics.load(cells, at)
      if (Atomics.load(words, slot) !== claimed) return false
      if (old === value || Atomics.compareExchange(cells, at, old, value) === old) return true
    }
    return false
  }

  /**
   * The one slot on which this key is to be committed, or is; -1 to begin again. Leaves in `#held` the slot's
   * word as it was before the scan that chose it.
   */
  #settle(slot: number, place: Place): number {
    const { words } = this.#arena
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.#held = Atomics.load(words, slot)
      const hi = word.hiOf(this.#held)
      const phase = word.phaseOf(hi)
      if (phase === FREE || !this.#bears(slot, hi, place)) return NONE
      if (phase === COMMITTED) return slot
      const twin = this.#twinOf(slot, place)
      if (twin === slot) return slot
      slot = twin
    }
    return NONE
  }

  /** `slot` when the scan found no twin to yield to; else the twin. Frees tentative twins above the slot. */
  #twinOf(slot: number, place: Place): number {
    const { words } = this.#arena
    for (let other = this.#low; other !== NONE; other = this.#next(other)) {
      if (other === slot) continue
      const seen = Atomics.load(words, other)
      const hi = word.hiOf(seen)
      const phase = word.phaseOf(hi)
      if (phase === FREE || !this.#bears(other, hi, place)) continue
      if (phase === COMMITTED) {
        // The claim that lost is let go, unless somebody has settled it meanwhile.
        this.#free(slot, this.#held)
        return other
      }
      if (other < slot || !this.#free(other, seen)) return other
    }
    return slot
  }

  /** Frees a slot that still holds `seen`, keeping its value: a helper's commit of the old word then fails. */
  #free(slot: number, seen: bigint): boolean {
    const hi = word.hiOf(seen)
    const freed = word.wordOf(word.hiFrom(word.generationOf(hi), word.policyIndexOf(hi), FREE), word.valueOf(seen))
    return Atomics.compareExchange(this.#arena.words, slot, seen, freed) === seen
  }
}
