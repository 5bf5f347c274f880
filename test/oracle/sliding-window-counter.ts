/** Sliding window counter: the counts of this window and of the one before; waits are found by trying times. */
import type { Policy, SlidingWindowCounterPolicy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { ceilDivide, Standstill } from './oracle.ts'

export function slidingWindowCounterOracle(first: SlidingWindowCounterPolicy, startMs: number): Oracle {
  const time = new Standstill(startMs)
  let limit = BigInt(first.limit)
  let windowMs = BigInt(first.windowMs)
  let now = BigInt(startMs)
  let counts = { window: now / windowMs, previous: 0n, current: 0n }

  /** The counts as they stand at `at`, if nothing is charged until then. */
  const countsAt = (at: bigint) => {
    const { window, current } = counts
    const later = at / windowMs - window
    if (later === 0n) return counts
    return { window: window + later, previous: later === 1n ? current : 0n, current: 0n }
  }

  /** What is used at `at`, times the window: the weight of the previous count is the part of it still overlapped. */
  const usedAt = (at: bigint): bigint => {
    const { previous, current } = countsAt(at)
    return previous * (windowMs - (at % windowMs)) + current * windowMs
  }

  const fits = (at: bigint, cost: number): boolean => usedAt(at) + BigInt(cost) * windowMs <= limit * windowMs

  /** Milliseconds until `holds`, which then holds for ever; two windows from now everything is forgotten. */
  const until = (holds: (at: bigint) => boolean): number => {
    let [not, yes] = [now - 1n, now + 2n * windowMs]
    while (yes - not > 1n) {
      const middle = (not + yes) / 2n
      if (holds(middle)) yes = middle
      else not = middle
    }
    return time.wait(yes - now)
  }

  const roll = (nowMs: number): void => {
    now = time.read(nowMs)
    counts = countsAt(now)
  }

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: Number((limit * windowMs - usedAt(now)) / windowMs),
    retryAfterMs: BigInt(cost) > limit ? Infinity : until((at) => fits(at, cost)),
    resetAfterMs: until((at) => usedAt(at) === 0n),
  })

  return {
    peek(nowMs, cost) {
      roll(nowMs)
      return answer(fits(now, cost), cost)
    },
    consume(nowMs, cost) {
      roll(nowMs)
      const allowed = fits(now, cost)
      if (allowed) counts = { ...counts, current: counts.current + BigInt(cost) }
      return answer(allowed, cost)
    },
    /** The newest first: from this window, then from the one before. */
    refund(nowMs, cost) {
      roll(nowMs)
      const { window, previous, current } = counts
      const left = BigInt(cost) - current
      counts = left <= 0n ? { window, previous, current: -left } : { window, previous: left > previous ? 0n : previous - left, current: 0n }
    },
    reset(nowMs) {
      roll(nowMs)
      counts = { ...counts, previous: 0n, current: 0n }
    },
    /** What was used, weighted, is charged to the new policy's window of this moment. */
    setPolicy(nowMs, policy: Policy) {
      roll(nowMs)
      const [used, before] = [usedAt(now), limit * windowMs]
      const next = policy as SlidingWindowCounterPolicy
      limit = BigInt(next.limit)
      windowMs = BigInt(next.windowMs)
      counts = { window: now / windowMs, previous: 0n, current: before === 0n ? 0n : ceilDivide(used * limit, before) }
    },
  }
}
