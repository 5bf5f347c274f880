/**
 * A small cache of one thread, from a (tier, key) met lately to its slot and identity: it saves the hash and the
 * search. Direct-mapped, fixed in size (G6); it holds no string longer than 64 code units. An entry is never
 * believed: the identity is checked against the slot at each use.
 */
const ENTRIES = 256
const LONGEST_KEY = 64

export class KeyCache {
  readonly #keys: string[] = new Array<string>(ENTRIES).fill('')
  readonly #tiers = new Int32Array(ENTRIES)
  /** By entry: the slot, and the two halves of the identity. */
  readonly slots = new Int32Array(ENTRIES)
  readonly h0 = new Int32Array(ENTRIES)
  readonly h1 = new Int32Array(ENTRIES)

  /** The only entry where this key may be. Keys differ most at their end. */
  place(tier: number, key: string): number {
    const last = key.length - 1
    let mix = key.charCodeAt(last) + last + (tier << 5)
    if (last > 1) mix += key.charCodeAt(last - 1) * 10 + key.charCodeAt(last - 2) * 100
    return mix & (ENTRIES - 1)
  }

  /** True when the entry is this key's. */
  holds(entry: number, tier: number, key: string): boolean {
    return this.#keys[entry] === key && this.#tiers[entry] === tier
  }

  put(entry: number, tier: number, key: string, slot: number, h0: number, h1: number): void {
    if (key.length > LONGEST_KEY) return
    this.#keys[entry] = key
    this.#tiers[entry] = tier
    this.slots[entry] = slot
    this.h0[entry] = h0
    this.h1[entry] = h1
  }
}
