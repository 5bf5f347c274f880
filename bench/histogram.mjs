/** Counts of durations in nanoseconds, in bins 3 % wide; exact below 64 ns and at the greatest. */

const SUB_BITS = 5
const SUB = 1 << SUB_BITS
const BINS = 40 * SUB

function binOf(ns) {
  if (ns < 2 * SUB) return ns
  const octave = 31 - Math.clz32(ns) - SUB_BITS
  return (octave + 1) * SUB + ((ns >>> octave) - SUB)
}

/** The least duration of a bin. */
export function lowest(bin) {
  if (bin < 2 * SUB) return bin
  const octave = Math.floor(bin / SUB) - 1
  return (SUB + (bin % SUB)) * 2 ** octave
}

export class Histogram {
  constructor(counts = new Float64Array(BINS), max = 0) {
    this.counts = counts
    this.max = max
  }

  /** `ns` whole, 0 to 2^31 - 1. */
  add(ns) {
    this.counts[binOf(ns)]++
    if (ns > this.max) this.max = ns
  }

  merge({ counts, max }) {
    counts.forEach((count, bin) => (this.counts[bin] += count))
    this.max = Math.max(this.max, max)
  }

  get total() {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }

  /** The duration that the share `part` of all calls does not exceed. */
  quantile(part) {
    const wanted = this.total * part
    let sum = 0
    for (let bin = 0; bin < BINS; bin++) {
      sum += this.counts[bin]
      if (sum >= wanted && sum > 0) return Math.min(this.max, lowest(bin + 1) - 1)
    }
    return this.max
  }

  summary() {
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((part) => this.quantile(part))
    return { p50, p99, p999, max: this.max }
  }

  /** Points [ns, share of calls slower], for a picture. */
  tail() {
    const { total } = this
    const points = []
    let sum = 0
    for (let bin = 0; bin < BINS; bin++) {
      if (this.counts[bin] === 0) continue
      sum += this.counts[bin]
      points.push([lowest(bin + 1) - 1, (total - sum) / total])
    }
    return points.filter(([, slower], i) => i === 0 || slower > 1e-5 || points[i - 1][1] > 1e-5)
  }
}
