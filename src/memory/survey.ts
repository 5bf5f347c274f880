/** Looks over the group of a key: the slot that it has, or else the one to claim for it. */
import type { Arena } from './arena.ts'
import type { Place } from './place.ts'
import type { Slots } from './slots.ts'
import { NEVER_TAKEN, NONE } from './slots.ts'
import * as word from './word.ts'
import { FREE, TENTATIVE } from './word.ts'

export class Survey {
  /** After a survey that found no slot of the key's: the one to claim, or -1. */
  victim = NONE
  /** True when the last survey met a claim that could be neither used nor taken, or a slot that changed. */
  unsettled = false
  readonly #arena: Arena
  readonly #slots: Slots

  constructor(arena: Arena, slots: Slots) {
    this.#arena = arena
    this.#slots = slots
  }

  /** True when the key has a slot, or could get one at `ms`. May be outdated on return. */
  hasRoom(place: Place, ms: number): boolean {
    return this.of(place, ms) !== NONE || this.victim !== NONE
  }

  /**
   * The key's slot, committed or tentative, or -1. Then `victim` is the slot to claim: of the bucket that alone has a
   * free one, else of the one that has more to take, which keeps buckets level, else of the home bucket; there the home
   * slot if it is free, else a free one, else the one that has been full for longest.
   */
  of(place: Place, ms: number): number {
    const slots = this.#slots
    slots.select(place)
    let [homeCount, otherCount] = [0, 0]
    let [homeVictim, otherVictim] = [NONE, NONE]
    let [homeSince, otherSince] = [Infinity, Infinity]
    this.unsettled = false
    for (let slot = slots.low; slot !== NONE; slot = slots.next(slot)) {
      const seen = Atomics.load(this.#arena.words, slot)
      const hi = word.hiOf(seen)
      if (word.phaseOf(hi) !== FREE && slots.bears(slot, hi, place)) return slot
      if (!slots.isTakeable(slot, seen, ms)) {
        if (word.phaseOf(hi) === TENTATIVE || Atomics.load(this.#arena.words, slot) !== seen) this.unsettled = true
        continue
      }
      const since = slots.fullSince(slot, seen)
      if (slots.isHome(slot)) {
        homeCount++
        if (since < homeSince || (slot === slots.home && since === homeSince)) {
          homeSince = since
          homeVictim = slot
        }
      } else {
        otherCount++
        if (since < otherSince) {
          otherSince = since
          otherVictim = slot
        }
      }
    }
    const oneHasFree = (homeSince === NEVER_TAKEN) !== (otherSince === NEVER_TAKEN)
    this.victim = (oneHasFree ? homeSince === NEVER_TAKEN : homeCount >= otherCount) ? homeVictim : otherVictim
    return NONE
  }
}
