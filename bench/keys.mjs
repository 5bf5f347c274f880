/** Keys of each shape of traffic. The same seed gives the same keys in the same order. */

export const SEED = 20_260_401
export const KEY_COUNT = 100_000
/** Calls in one batch: what a clock can time, divided afterwards. */
export const BATCH = 1_000

/** mulberry32: numbers from 0 up to 1. */
export function random(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mix = Math.imul(state ^ (state >>> 15), 1 | state)
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix
    return ((mix ^ (mix >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** An address for a key, 8 to 14 characters. */
export function name(i) {
  return `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}:x`
}

/** Ranks of a Zipf distribution with exponent 1, 0 the most frequent, in shared memory. */
function zipfRanks(count, length, next) {
  const sums = new Float64Array(count)
  let sum = 0
  for (let i = 0; i < count; i++) sums[i] = sum += 1 / (i + 1)
  const ranks = new Int32Array(new SharedArrayBuffer(length * 4))
  for (let i = 0; i < length; i++) {
    const wanted = next() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle] < wanted) low = middle + 1
      else high = middle
    }
    ranks[i] = low
  }
  return ranks
}

const RANKS = 2 ** 18
let drawn

/** What the sources of a shape have in common, drawn once on the main thread. */
export function drawing(shape) {
  return shape.keys.startsWith('zipf') ? (drawn ??= zipfRanks(KEY_COUNT, RANKS, random(SEED))) : undefined
}

/** Names as bytes, from which new strings are made as a server makes them: flat, never seen before, no hash yet. */
class Names {
  #bytes
  #ends
  constructor(count) {
    this.#ends = new Int32Array(count + 1)
    const parts = []
    for (let i = 0; i < count; i++) {
      parts.push(name(i))
      this.#ends[i + 1] = this.#ends[i] + parts[i].length
    }
    this.#bytes = Buffer.from(parts.join(''), 'latin1')
  }
  fresh(i) {
    return this.#bytes.latin1Slice(this.#ends[i], this.#ends[i + 1])
  }
}

/**
 * A source gives one batch of keys at a time; making it is not timed. Threads begin at different places.
 * `all` are batches with every key that can come, to be met once before anything is measured.
 *
 * hot          one key, one string
 * zipf         100,000 known strings
 * zipf-fresh   the same keys, a new string at each call
 * uniform      any of `count` keys, a new string at each call
 * new          a key never met before at each call
 */
export function source(shape, seat, ranks) {
  const batch = new Array(BATCH).fill('203.0.113.7:443')
  if (shape.keys === 'hot') return { all: [batch.slice(0, 1)], next: () => batch }
  if (shape.keys === 'new') {
    // A million names a seat and lap, written out anew so that no two calls share one.
    let at = 0
    const mark = `${seat}`.padStart(2, '0')
    return {
      all: [],
      next() {
        for (let i = 0; i < BATCH; i++) batch[i] = Buffer.from(`${mark}.${(at++).toString(36)}:new`, 'latin1').latin1Slice()
        return batch
      },
    }
  }
  if (shape.keys === 'uniform') {
    const next = random(SEED + seat)
    const fill = (pick) => {
      for (let i = 0; i < BATCH; i++) batch[i] = Buffer.from(name(pick(i)), 'latin1').latin1Slice()
      return batch
    }
    return {
      all: (function* () {
        for (let from = 0; from < shape.count; from += BATCH) yield fill((i) => from + i)
      })(),
      next: () => fill(() => Math.floor(next() * shape.count)),
    }
  }
  const names = new Names(KEY_COUNT)
  const all = Array.from({ length: KEY_COUNT }, (_, i) => names.fresh(i))
  const known = shape.keys === 'zipf' ? all : undefined
  let at = seat * 77_777
  return {
    all: [all],
    next() {
      for (let i = 0; i < BATCH; i++) {
        const rank = ranks[(at + i) & (RANKS - 1)]
        batch[i] = known === undefined ? names.fresh(rank) : known[rank]
      }
      at += BATCH
      return batch
    },
  }
}
