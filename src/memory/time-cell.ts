/** A time in shared memory: one 64-bit cell of 2^-20 milliseconds, so that whole milliseconds are exact. */
const PER_MS = 2 ** 20

export class TimeCell {
  readonly buffer: SharedArrayBuffer
  private readonly cell: BigInt64Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8), byteOffset = 0) {
    this.buffer = buffer
    this.cell = new BigInt64Array(buffer, byteOffset, 1)
  }

  /** True when `value` could be the buffer of a cell, or of `bytes` with one in it. */
  static accepts(value: unknown, bytes = 8): value is SharedArrayBuffer {
    return Object.prototype.toString.call(value) === '[object SharedArrayBuffer]' && (value as SharedArrayBuffer).byteLength === bytes
  }

  get ms(): number {
    return Number(Atomics.load(this.cell, 0)) / PER_MS
  }

  set ms(ms: number) {
    Atomics.store(this.cell, 0, BigInt(Math.round(ms * PER_MS)))
  }

  /** Adds `ms` as one atomic step; returns the time after it. */
  add(ms: number): number {
    const delta = BigInt(Math.round(ms * PER_MS))
    return Number(Atomics.add(this.cell, 0, delta) + delta) / PER_MS
  }

  /**
   * Sets the time to `ms`, rounded down, unless it is that already or later, or another thread sets it meanwhile; says
   * whether it did. One atomic step, tried once: what another has set is newer than what was there.
   */
  raise(ms: number): boolean {
    const wanted = BigInt(Math.floor(ms * PER_MS))
    const time = Atomics.load(this.cell, 0)
    return time < wanted && Atomics.compareExchange(this.cell, 0, time, wanted) === time
  }
}
