/**
 * The 64-bit identity of a (tier, key): HalfSipHash-1-3 (Aumasson and Bernstein, SipHash, 2012; the 32-bit
 * variant of the reference code) over the tier and the UTF-16 code units, under the arena's secret seed. A client
 * who cannot read the seed cannot aim two keys at one identity, nor many at one bucket.
 *
 * The result is left in a `Place` that the caller owns, so that hashing makes no garbage.
 */
export class Hasher {
  readonly #seed0: number
  readonly #seed1: number

  constructor(seed0: number, seed1: number) {
    this.#seed0 = seed0
    this.#seed1 = seed1
  }

  /** Sets the two halves of the identity of this tier and key. */
  hash(tier: number, key: string, into: { h0: number; h1: number }): void {
    let v0 = this.#seed0
    let v1 = this.#seed1 ^ 0xee
    let v2 = 0x6c796765 ^ this.#seed0
    let v3 = 0x74656462 ^ this.#seed1
    const length = key.length
    const pairs = length >>> 1
    // Two code units a word; then a closing word of the odd unit and the tier; then one of the length.
    for (let i = 0; i <= pairs + 1; i++) {
      const word =
        i < pairs
          ? key.charCodeAt(2 * i) | (key.charCodeAt(2 * i + 1) << 16)
          : i === pairs
            ? (length & 1 ? key.charCodeAt(length - 1) : 0) | (tier << 16)
            : length
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    v2 ^= 0xee
    for (let half = 0; half < 2; half++) {
      for (let round = 0; round < 3; round++) {
        v0 = (v0 + v1) | 0
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
        v0 = (v0 << 16) | (v0 >>> 16)
        v2 = (v2 + v3) | 0
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
        v0 = (v0 + v3) | 0
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
        v2 = (v2 + v1) | 0
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
        v2 = (v2 << 16) | (v2 >>> 16)
      }
      if (half === 0) {
        into.h0 = v1 ^ v3
        v1 ^= 0xdd
      } else {
        into.h1 = v1 ^ v3
      }
    }
  }
}
