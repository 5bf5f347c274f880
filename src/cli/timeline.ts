/** Counts over time in a fixed number of bins, which grow wider as time goes on. */
const BINS = 240

export class Timeline {
  readonly startMs: number
  /** One series of counts each. */
  readonly series: readonly Float64Array[]
  #binMs = 1_000

  constructor(startMs: number, series: number) {
    this.startMs = startMs
    this.series = Array.from({ length: series }, () => new Float64Array(BINS))
  }

  get binMs(): number {
    return this.#binMs
  }

  /** The bin of a time from `startMs`; makes room for it. */
  binOf(timeMs: number): number {
    let bin = Math.floor((timeMs - this.startMs) / this.#binMs)
    while (bin >= BINS) {
      for (const counts of this.series) fold(counts)
      this.#binMs *= 2
      bin = Math.floor((timeMs - this.startMs) / this.#binMs)
    }
    return bin
  }
}

/** Two bins become one. */
function fold(counts: Float64Array): void {
  for (let bin = 0; bin < BINS; bin++) counts[bin] = bin < BINS / 2 ? counts[2 * bin]! + counts[2 * bin + 1]! : 0
}
