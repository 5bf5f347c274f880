/** The most requests of one client in any window, measured exactly as they come. */

/** Requests that are held at once: 12 MB. */
const MOST = 1_048_576

export interface Peak {
  readonly count: number
  /** The client's row; -1 for none. */
  readonly row: number
  /** When the window's last request came. */
  readonly timeMs: number
}

/** Slides a window of `windowMs`, its start excluded, over requests whose times never decrease. */
export class Burst {
  readonly #windowMs: number
  /** Requests of each row within the window. */
  readonly #within: Uint32Array
  readonly #most: number
  #times = new Float64Array(1_024)
  #rows = new Uint32Array(1_024)
  #head = 0
  #length = 0
  #peak: Peak = { count: 0, row: -1, timeMs: 0 }
  #cut = false

  constructor(windowMs: number, rows: number, most = MOST) {
    this.#windowMs = windowMs
    this.#within = new Uint32Array(rows)
    this.#most = most
  }

  /** Counts a request of `row`. */
  enter(row: number, timeMs: number): void {
    while (this.#length > 0 && this.#times[this.#head]! <= timeMs - this.#windowMs) this.#drop()
    if (this.#length === this.#times.length) this.#makeRoom()
    const at = (this.#head + this.#length++) & (this.#times.length - 1)
    this.#times[at] = timeMs
    this.#rows[at] = row
    const count = ++this.#within[row]!
    if (count > this.#peak.count) this.#peak = { count, row, timeMs }
  }

  get peak(): Peak {
    return this.#peak
  }

  /** Whether a window had more requests than can be held: then the peak is a lower bound. */
  get isEstimate(): boolean {
    return this.#cut
  }

  #drop(): void {
    this.#within[this.#rows[this.#head]!]!--
    this.#head = (this.#head + 1) & (this.#times.length - 1)
    this.#length--
  }

  #makeRoom(): void {
    if (this.#length >= this.#most) {
      this.#cut = true
      this.#drop()
      return
    }
    const [times, rows] = [new Float64Array(this.#length * 2), new Uint32Array(this.#length * 2)]
    for (let n = 0; n < this.#length; n++) {
      const at = (this.#head + n) & (this.#length - 1)
      times[n] = this.#times[at]!
      rows[n] = this.#rows[at]!
    }
    this.#times = times
    this.#rows = rows
    this.#head = 0
  }
}
