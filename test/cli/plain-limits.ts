/** The two sliding windows in their most obvious form, and the largest burst by trying every window. */
export type Allow = (nowMs: number) => boolean

/** Times of admitted calls; a call passes when fewer than `limit` of them are within the window that ends now. */
export function plainLog(limit: number, windowMs: number): Allow {
  let times: number[] = []
  return (nowMs) => {
    times = times.filter((time) => time > nowMs - windowMs)
    if (times.length >= limit) return false
    times.push(nowMs)
    return true
  }
}

/** Counts by window; the one before weighs by the part of it that the last `windowMs` still overlap. */
export function plainCounter(limit: number, windowMs: number): Allow {
  const counts = new Map<number, bigint>()
  return (nowMs) => {
    const window = Math.floor(nowMs / windowMs)
    const left = BigInt(windowMs - (nowMs - window * windowMs))
    const [before, current] = [counts.get(window - 1) ?? 0n, counts.get(window) ?? 0n]
    if (before * left + (current + 1n) * BigInt(windowMs) > BigInt(limit) * BigInt(windowMs)) return false
    counts.set(window, current + 1n)
    return true
  }
}

/** The most of `times` within any window that ends at one of them and excludes its own start. */
export function largestBurst(times: readonly number[], windowMs: number): number {
  return times.reduce((most, end) => Math.max(most, times.filter((time) => time > end - windowMs && time <= end).length), 0)
}
