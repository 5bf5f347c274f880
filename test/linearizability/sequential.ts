/**
 * What one thread after another would find: each algorithm as the plainest machine that says yes and no, with an
 * immutable state, so that a search can go back. A reading older than the state adds nothing and may be refused (G9).
 */

/** Numbers that say all about one bucket. */
export type Bucket = readonly number[]

export interface Machine {
  /**
   * True where a reading that the clock has left behind may be refused, though it would be allowed (G9): a call of a later
   * reading has written over what tells.
   */
  readonly refusesLate: boolean
  /** A bucket that has been full for long. */
  readonly full: Bucket
  /** The bucket after a charge; undefined where it is refused. */
  spend(bucket: Bucket, nowMs: number, cost: number): Bucket | undefined
  refund(bucket: Bucket, nowMs: number, cost: number): Bucket
  remaining(bucket: Bucket, nowMs: number): number
}

/** One number, the reading of a refill line at which the bucket is full; a token is `price` of the line. */
function line(reading: (ms: number) => number, price: number, burst: number): Machine {
  const fullAt = (bucket: Bucket, now: number) => Math.max(bucket[0]!, now)
  return {
    refusesLate: false,
    full: [0],
    spend(bucket, nowMs, cost) {
      const now = reading(nowMs)
      const next = fullAt(bucket, now) + cost * price
      return next - now > burst * price ? undefined : [next]
    },
    refund(bucket, nowMs, cost) {
      const now = reading(nowMs)
      return bucket[0]! <= now ? bucket : [Math.max(now, bucket[0]! - cost * price)]
    },
    remaining(bucket, nowMs) {
      const now = reading(nowMs)
      return Math.max(0, burst - Math.ceil((fullAt(bucket, now) - now) / price))
    },
  }
}

/** A token is `periodMs` of a line that rises by `limit` a millisecond. */
export function tokenBucketMachine({ limit, periodMs, burst }: { limit: number; periodMs: number; burst: number }): Machine {
  return line((ms) => ms * limit, periodMs, burst)
}

/** A token is 1 of a line that rises by `limit` at each edge. A refund of an earlier window is not for this one. */
export function fixedWindowMachine({ limit, windowMs }: { limit: number; windowMs: number }): Machine {
  const reading = (ms: number) => Math.floor(ms / windowMs) * limit
  const machine = line(reading, 1, limit)
  return { ...machine, refund: (bucket, nowMs, cost) => (bucket[0]! > reading(nowMs) + limit ? bucket : machine.refund(bucket, nowMs, cost)) }
}

/** The window, the count of the one before, and its own. A refund of an earlier window is not for this one. */
export function slidingCounterMachine({ limit, windowMs }: { limit: number; windowMs: number }): Machine {
  function at([window = 0, previous = 0, current = 0]: Bucket, nowMs: number) {
    const now = Math.floor(nowMs / windowMs)
    if (now < window) return { window, previous, current, left: windowMs }
    const left = windowMs - (nowMs - now * windowMs)
    if (now === window) return { window, previous, current, left }
    return { window: now, previous: now === window + 1 ? current : 0, current: 0, left }
  }
  return {
    refusesLate: false,
    full: [0, 0, 0],
    spend(bucket, nowMs, cost) {
      const { window, previous, current, left } = at(bucket, nowMs)
      return previous * left + (current + cost) * windowMs > limit * windowMs ? undefined : [window, previous, current + cost]
    },
    refund(bucket, nowMs, cost) {
      const { window, previous, current } = at(bucket, nowMs)
      if (previous + current === 0 || nowMs < window * windowMs) return bucket
      const first = Math.min(current, cost)
      return [window, previous - Math.min(previous, cost - first), current - first]
    },
    remaining(bucket, nowMs) {
      const { previous, current, left } = at(bucket, nowMs)
      return Math.max(0, limit - current - Math.ceil((previous * left) / windowMs))
    },
  }
}

/**
 * The times of the last `limit` units. In the place of one that is given back is one that left the window when it was charged: to
 * an older reading it has not.
 */
export function slidingLogMachine({ limit, windowMs }: { limit: number; windowMs: number }): Machine {
  const isIn = (ms: number, nowMs: number) => ms + windowMs > nowMs
  /** From the newest back. */
  const used = (bucket: Bucket, nowMs: number) => bucket.length - 1 - bucket.findLastIndex((ms) => !isIn(ms, nowMs))
  return {
    refusesLate: true,
    full: [],
    spend(bucket, nowMs, cost) {
      if (cost > limit || bucket.slice(0, Math.max(0, bucket.length + cost - limit)).some((ms) => isIn(ms, nowMs))) return undefined
      return [...bucket, ...new Array<number>(cost).fill(Math.max(nowMs, ...bucket.slice(-1)))].slice(-limit)
    },
    refund(bucket, nowMs, cost) {
      const units = Math.min(cost, used(bucket, nowMs))
      if (units === 0 || bucket.at(-1)! >= nowMs + windowMs) return bucket
      return [...bucket.slice(-units).map((ms) => ms - windowMs), ...bucket.slice(0, -units)]
    },
    remaining: (bucket, nowMs) => limit - used(bucket, nowMs),
  }
}
