/**
 * A new key gets a slot without a lock, in five moves, each one compareExchange:
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
import type { Step } from '../arithmetic/algorithm.ts'
import type { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import type { Driver, Verdict } from './driver.ts'
import { CONTENDED, DONE, MISS, NOW, REFUSED, VALUE } from './driver.ts'
import { SLOT_IDENTITY0, SLOT_IDENTITY1, TALLY } from './layout.ts'
import type { Place } from './place.ts'
import type { Slots } from './slots.ts'
import { NONE } from './slots.ts'
import type { Survey } from './survey.ts'
import type { Tally } from './tally.ts'
import * as word from './word.ts'
import { CLAIM_UNITS_PER_MS, COMMITTED, FREE, TENTATIVE } from './word.ts'

/** No slot could be had. */
export const FULL = 4
export type InsertionVerdict = Verdict | typeof FULL

/** A bound that only a fault reaches. */
const MOST_ROUNDS = 1 << 10
/** Rounds for which a group without a slot is looked at again, while a claim in it is not yet settled. */
const PATIENCE = 64

export class Insertion {
  readonly #arena: Arena
  readonly #slots: Slots
  readonly #survey: Survey
  readonly #driver: Driver
  readonly #tally: Tally
  /** The word of the slot that `#settle` chose, as it was before the scan that chose it. */
  #held = 0n

  constructor(arena: Arena, slots: Slots, survey: Survey, driver: Driver, tally: Tally) {
    this.#arena = arena
    this.#slots = slots
    this.#survey = survey
    this.#driver = driver
    this.#tally = tally
  }

  /**
   * Applies `step` to the key's bucket, which is made full if it is nowhere. `step` must accept a full bucket. MISS
   * when the place's policy is not the key's any more, or not the bucket's yet.
   */
  insert(place: Place, step: Step, reader: Reader, cost: number): InsertionVerdict {
    const { words, bornMs, policies } = this.#arena
    const { terms, policy } = place
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let slot = this.#survey.of(place, reader.ms)
      if (slot === NONE) {
        if (this.#survey.victim === NONE) {
          // A claim of this tick may become this key's own, or be let go; or its thread is dead, and it ages.
          if (!this.#survey.unsettled || round >= PATIENCE) return FULL
          reader.readFresh()
          continue
        }
        slot = this.#claim(this.#survey.victim, place, reader.ms)
        if (slot === NONE) continue
      }
      slot = this.#settle(slot, place)
      if (slot === NONE) continue
      // The word read before the scan that settled it: had anyone touched the slot since, the commit would fail.
      const held = this.#held
      const hi = word.hiOf(held)
      // A charge is never older than the claim: the claimant may have been ahead of this thread's clock.
      const claimMs = word.phaseOf(hi) === TENTATIVE ? bornMs + word.valueOf(held) / CLAIM_UNITS_PER_MS : -Infinity
      const { registers, facts } = this.#driver
      const now = (registers[NOW] = terms.reading(terms, Math.max(reader.readFresh(), claimMs)))
      place.slot = slot
      if (word.phaseOf(hi) === TENTATIVE) {
        // A ring takes no charge before its slot is committed: it is committed full, and charged like any other.
        const charge = terms.ringSize === 0
        const full = charge ? terms.algorithm.fresh(terms, now) : this.#slots.beginRing(slot, held, terms, terms.reading(terms, claimMs))
        if (full < 0) continue
        const value = charge ? step(full, terms, now, cost, facts) : full
        registers[VALUE] = Math.max(value, full)
        if (value < 0) return REFUSED
        if (policies.version !== place.version) return MISS
        const committed = word.wordOf(word.hiFrom(word.generationOf(hi), policy, COMMITTED), value)
        if (Atomics.compareExchange(words, slot, held, committed) !== held) continue
        if (charge) return DONE
      }
      const verdict = this.#driver.transact(place, step, cost)
      if (verdict !== MISS) return verdict
      if (policies.version !== place.version || this.#slots.stalePolicy(place) !== 0) return MISS
    }
    this.#tally.count(TALLY.contended)
    return CONTENDED
  }

  /** Claims the victim and publishes the key on it; the slot, or -1 when another thread was first. */
  #claim(slot: number, { h0, h1, policy }: Place, ms: number): number {
    const { words } = this.#arena
    const seen = Atomics.load(words, slot)
    if (!this.#slots.isTakeable(slot, seen, ms)) return NONE
    const generation = (word.generationOf(word.hiOf(seen)) + 1) & 0x7f
    // Rounded down: no charge is ahead of the claimant's own reading.
    const claimTime = Math.floor((ms - this.#arena.bornMs) * CLAIM_UNITS_PER_MS)
    const claimed = word.wordOf(word.hiFrom(generation, policy, TENTATIVE), claimTime)
    if (!this.#slots.exchange(slot, seen, claimed)) return NONE
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
      if (phase === FREE || !this.#slots.bears(slot, hi, place)) return NONE
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
    for (let other = this.#slots.low; other !== NONE; other = this.#slots.next(other)) {
      if (other === slot) continue
      const seen = Atomics.load(words, other)
      const hi = word.hiOf(seen)
      const phase = word.phaseOf(hi)
      if (phase === FREE || !this.#slots.bears(other, hi, place)) continue
      if (phase === COMMITTED) {
        // The claim that lost is let go, unless somebody has settled it meanwhile.
        this.#slots.free(slot, this.#held)
        return other
      }
      if (other < slot || !this.#slots.free(other, seen)) return other
    }
    return slot
  }
}
