/**
 * The limiter that everybody writes first: a token bucket for each key in a plain `Map`, in exact integers.
 *
 * One of them, on one thread, is the oracle: it shares no code with the engine and counts tokens, where the engine
 * keeps a time. One in each of several workers is the fault this project is about: every worker grants the
 * whole limit again.
 */
interface Bucket {
  /** Tokens times the period in milliseconds, so that a millisecond refills exactly `limit` of it. */
  level: bigint
  atMs: number
}

export class MapBuckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #limit: bigint
  readonly #price: bigint
  readonly #full: bigint

  /** `limit` tokens per `periodMs`, and as many at once; both whole. */
  constructor(limit: number, periodMs: number) {
    this.#limit = BigInt(limit)
    this.#price = BigInt(periodMs)
    this.#full = this.#limit * this.#price
  }

  /** Spends a token of `key` at `nowMs` if it has one. `nowMs` is whole and never decreases. */
  allow(key: string, nowMs: number): boolean {
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) this.#buckets.set(key, (bucket = { level: this.#full, atMs: nowMs }))
    const refilled = bucket.level + BigInt(nowMs - bucket.atMs) * this.#limit
    bucket.level = refilled < this.#full ? refilled : this.#full
    bucket.atMs = nowMs
    if (bucket.level < this.#price) return false
    bucket.level -= this.#price
    return true
  }
}
