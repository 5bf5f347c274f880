/** Medians, spreads, and how they are written. */

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Median, least and greatest. */
export function spread(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/** Greatest over least of the middle half of rounds: what drift or company on the machine does to the floor. */
export function noise(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const quarter = Math.floor(sorted.length / 4)
  return sorted[sorted.length - 1 - quarter] / sorted[quarter]
}

/** Three significant figures, or whole from 100. */
export function short(value) {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}

/** `1.20 (1.10 to 1.35)` */
export function range({ median, min, max }) {
  return `${short(median)} (${short(min)} to ${short(max)})`
}
