/** Sliding window log: the time of every call, of which as many are kept as make up the limit. */
import type { Policy, SlidingWindowLogPolicy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { Standstill } from './oracle.ts'

export function slidingWindowLogOracle({ limit, windowMs: firstWindowMs }: SlidingWindowLogPolicy, startMs: number): Oracle {
  const time = new Standstill(startMs)
  let windowMs = BigInt(firstWindowMs)
  let now = BigInt(startMs)
  /** Oldest first. */
  const calls: { readonly at: bigint; units: number }[] = []

  const unitsOf = (some: readonly { units: number }[]): number => some.reduce((sum, { units }) => sum + units, 0)
  const inWindow = () => calls.filter(({ at }) => at + windowMs > now)

  /** Milliseconds until at most `units` are left in the window. */
  const until = (units: number): number => {
    const left = inWindow()
    let wait = 0n
    while (unitsOf(left) > units) wait = left.shift()!.at + windowMs - now
    return time.wait(wait)
  }

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: limit - unitsOf(inWindow()),
    retryAfterMs: cost > limit ? Infinity : until(limit - cost),
    resetAfterMs: until(0),
  })

  const fits = (nowMs: number, cost: number): boolean => {
    now = time.read(nowMs)
    return unitsOf(inWindow()) + cost <= limit
  }

  /** Takes the newest units back, of those in the window. */
  const takeBack = (nowMs: number, cost: number): void => {
    now = time.read(nowMs)
    let left = Math.min(cost, unitsOf(inWindow()))
    while (left > 0) {
      const newest = calls.at(-1)!
      const units = Math.min(left, newest.units)
      newest.units -= units
      left -= units
      if (newest.units === 0) calls.pop()
    }
  }

  return {
    peek(nowMs, cost) {
      return answer(fits(nowMs, cost), cost)
    },
    consume(nowMs, cost) {
      const allowed = fits(nowMs, cost)
      if (allowed && cost > 0) calls.push({ at: now, units: cost })
      // There is room for `limit` units.
      for (let over = unitsOf(calls) - limit; over > 0; over--) if (--calls[0]!.units === 0) calls.shift()
      return answer(allowed, cost)
    },
    refund: takeBack,
    reset: (nowMs) => takeBack(nowMs, limit),
    /** Only the window can change: the times stay, and a longer window reaches further back among them. */
    setPolicy(nowMs, policy: Policy) {
      now = time.read(nowMs)
      windowMs = BigInt((policy as SlidingWindowLogPolicy).windowMs)
    },
  }
}
