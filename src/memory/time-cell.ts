/** A time in shared memory: one 64-bit cell of 2^-20 milliseconds, so that whole milliseconds are exact. */
const PER_MS = 2 ** 20

export class TimeCell {
  readonly buffer: SharedArrayBuffer
  readonly #cell: BigInt64Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.buffer = buffer
    this.#cell = new BigInt64Array(buffer, 0, 1)
  }

  /** True when `value` could be the buffer of a cell. */
  static accepts(value: unknown): value is SharedArrayBuffer {
    return Object.prototype.toString.call(value) === '[object SharedArrayBuffer]' && (value as SharedArrayBuffer).byteLength === 8
  }

  get ms(): number {
    return Number(Atomics.load(this.#cell, 0)) / PER_MS
  }

  set ms(ms: number) {
    Atomics.store(this.#cell, 0, BigInt(Math.round(ms * PER_MS)))
  }

  /** Adds `ms` as one atomic step; returns the time after it. */
  add(ms: number): number {
    const delta = BigInt(Math.round(ms * PER_MS))
    return Number(Atomics.add(this.#cell, 0, delta) + delta) / PER_MS
  }
}
