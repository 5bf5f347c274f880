/**
 * Refused hits that the middleware will ask to take back. It does so for each failed response, its own 429 included;
 * but a refusal has spent nothing, and giving it back would mint a token.
 */
export class Refusals {
  readonly #most: number
  readonly #byKey = new Map<string, number>()
  /** Refusals that found no room: as many takings-back are then refused, whoever asks. */
  #unplaced = 0

  /** `most` keys with a refused response under way are told apart; beyond that no token is ever minted, some are not returned. */
  constructor(most = 10_000) {
    this.#most = most
  }

  add(key: string): void {
    const count = this.#byKey.get(key)
    if (count === undefined && this.#byKey.size >= this.#most) this.#unplaced++
    else this.#byKey.set(key, (count ?? 0) + 1)
  }

  /** True where the hit to take back was a refused one. */
  take(key: string): boolean {
    const count = this.#byKey.get(key)
    if (count !== undefined) {
      if (count === 1) this.#byKey.delete(key)
      else this.#byKey.set(key, count - 1)
      return true
    }
    if (this.#unplaced === 0) return false
    this.#unplaced--
    return true
  }
}
