import type { Terms } from '../arithmetic/algorithm.ts'
import { COMMITTED, hiFrom } from './word.ts'

/** Where a key lives: its identity, the slot that was last seen to be its own, and the policy it was seen under. */
export class Place {
  /** '' where the place is nobody's: no key is empty. */
  key = ''
  /** The tier; of a part of an `allOf` with 1 + part above it, so that the tier alone is no place's of such a key. */
  tier = 0
  /** The 64-bit index of the slot, or -1. */
  slot = -1
  /** The two halves of the identity; set where `slot` is, or has been searched. */
  h0 = 0
  h1 = 0
  /** The index of the policy, and what the state word of its committed buckets bears in the fields of KIND_MASK. */
  policy = 0
  kind = 0
  /** The terms of that policy; set where `slot` is. */
  terms!: Terms
  /** The version of the policies as of which that is the key's policy. */
  version = -1

  /** Puts the place under the policy that the key has as of `version`. */
  under(policy: number, terms: Terms, version: number): void {
    this.policy = policy
    this.kind = hiFrom(0, policy, COMMITTED)
    this.terms = terms
    this.version = version
  }
}

const ENTRIES = 256
const LONGEST_KEY = 64

/**
 * The places of keys met lately by one thread: it saves the hash and the search. Direct-mapped, fixed in size (G6);
 * it holds no string longer than 64 code units. A slot named here is never believed: the identity is checked
 * against the slot at each use.
 */
export class PlaceCache {
  private readonly entries: (Place | undefined)[] = new Array(ENTRIES).fill(undefined)
  private readonly spare = new Place()
  private last = this.spare

  /** The place of this key; its slot is -1 when the key was not met lately. Belongs to the caller until the next call. */
  of(tier: number, key: string): Place {
    const last = this.last
    return last.key === key && last.tier === tier ? last : this.lookUp(tier, key)
  }

  private lookUp(tier: number, key: string): Place {
    if (key.length > LONGEST_KEY) {
      this.spare.slot = -1
      return this.spare
    }
    // Keys differ most at their end.
    const end = key.length - 1
    let mix = key.charCodeAt(end) + end + (tier << 5) + (tier >> 8) * 37
    if (end > 1) mix += key.charCodeAt(end - 1) * 10 + key.charCodeAt(end - 2) * 100
    const place = (this.entries[mix & (ENTRIES - 1)] ??= new Place())
    if (place.key !== key || place.tier !== tier) {
      place.key = key
      place.tier = tier
      place.slot = -1
    }
    return (this.last = place)
  }
}
