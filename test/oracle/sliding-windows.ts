/** The windows that slide, or open at a first request: counts and lists, and searches instead of formulas. */
import type { FixedWindowPolicy, SlidingWindowCounterPolicy, SlidingWindowLogPolicy } from '../../src/index.ts'
import type { Oracle } from './oracle.ts'
import { Standstill } from './oracle.ts'

/** The least `ms` from 0 to `most` at which `holds`, which stays true once it is. */
function least(most: bigint, holds: (ms: bigint) => boolean): bigint {
  let [low, high] = [0n, most]
  while (low < high) {
    const middle = (low + high) / 2n
    if (holds(middle)) high = middle
    else low = middle + 1n
  }
  return low
}

/** Two counts, the older weighted by its overlap with the last window. */
export function slidingWindowCounterOracle({ limit, windowMs }: SlidingWindowCounterPolicy, startMs: number): Oracle {
  const length = BigInt(windowMs)
  const time = new Standstill(startMs)
  const counts = new Map<bigint, number>()
  /** What is used at `now`, in `windowMs`-ths of a unit. */
  const used = (now: bigint): bigint => {
    const window = now / length
    const overlap = length - (now % length)
    return BigInt(counts.get(window - 1n) ?? 0) * overlap + BigInt(counts.get(window) ?? 0) * length
  }
  const fits = (now: bigint, cost: number): boolean => used(now) + BigInt(cost) * length <= BigInt(limit) * length
  const ask = (nowMs: number, cost: number, charge: boolean) => {
    const now = time.read(nowMs)
    const allowed = fits(now, cost)
    if (charge && allowed) counts.set(now / length, (counts.get(now / length) ?? 0) + cost)
    const spare = BigInt(limit) * length - used(now)
    return {
      allowed,
      remaining: spare > 0n ? Number(spare / length) : 0,
      retryAfterMs: cost > limit ? Infinity : time.wait(least(2n * length, (ms) => fits(now + ms, cost))),
      resetAfterMs: time.wait(least(2n * length, (ms) => used(now + ms) === 0n)),
    }
  }
  return { peek: (nowMs, cost) => ask(nowMs, cost, false), consume: (nowMs, cost) => ask(nowMs, cost, true) }
}

/** The time of every unit. */
export function slidingWindowLogOracle({ limit, windowMs }: SlidingWindowLogPolicy, startMs: number): Oracle {
  const length = BigInt(windowMs)
  const time = new Standstill(startMs)
  let units: bigint[] = []
  const used = (now: bigint): number => units.filter((at) => at + length > now).length
  const ask = (nowMs: number, cost: number, charge: boolean) => {
    const now = time.read(nowMs)
    units = units.filter((at) => at + length > now)
    const allowed = units.length + cost <= limit
    if (charge && allowed) units = [...units, ...new Array<bigint>(cost).fill(now)]
    return {
      allowed,
      remaining: limit - units.length,
      retryAfterMs: cost > limit ? Infinity : time.wait(least(length, (ms) => used(now + ms) + cost <= limit)),
      resetAfterMs: time.wait(least(length, (ms) => used(now + ms) === 0)),
    }
  }
  return { peek: (nowMs, cost) => ask(nowMs, cost, false), consume: (nowMs, cost) => ask(nowMs, cost, true) }
}

/** A window that opens at the first charge after the last one closed. */
export function anchoredWindowOracle({ limit, windowMs }: FixedWindowPolicy, startMs: number): Oracle {
  const length = BigInt(windowMs)
  const time = new Standstill(startMs)
  let opened: bigint | undefined
  let used = 0
  const ask = (nowMs: number, cost: number, charge: boolean) => {
    const now = time.read(nowMs)
    if (opened !== undefined && now >= opened + length) [opened, used] = [undefined, 0]
    const allowed = used + cost <= limit
    if (charge && allowed && cost > 0) {
      opened ??= now
      used += cost
    }
    const untilClosed = opened === undefined ? 0 : time.wait(opened + length - now)
    return {
      allowed,
      remaining: limit - used,
      retryAfterMs: cost > limit ? Infinity : used + cost <= limit ? 0 : untilClosed,
      resetAfterMs: untilClosed,
    }
  }
  return { peek: (nowMs, cost) => ask(nowMs, cost, false), consume: (nowMs, cost) => ask(nowMs, cost, true) }
}
