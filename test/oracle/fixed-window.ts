/** Fixed window: a count, and the time at which its window opened, on the clock's grid or at the first charge. */
import type { FixedWindowPolicy, Policy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { scaled, Standstill } from './oracle.ts'

export function fixedWindowOracle(first: FixedWindowPolicy, startMs: number): Oracle {
  const time = new Standstill(startMs)
  const anchored = first.anchored === 'first'
  let { limit } = first
  let windowMs = BigInt(first.windowMs)
  let now = BigInt(startMs)
  let opened = now
  let used = 0

  const openNow = (): bigint => (anchored ? now : now - (now % windowMs))

  const roll = (nowMs: number): void => {
    now = time.read(nowMs)
    if (now >= opened + windowMs) used = 0
    // A window in which nothing is charged is none yet.
    if (used === 0) opened = openNow()
  }

  const untilClosed = (): number => time.wait(opened + windowMs - now)

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: limit - used,
    retryAfterMs: cost > limit ? Infinity : used + cost > limit ? untilClosed() : 0,
    resetAfterMs: used === 0 ? 0 : untilClosed(),
  })

  return {
    peek(nowMs, cost) {
      roll(nowMs)
      return answer(used + cost <= limit, cost)
    },
    consume(nowMs, cost) {
      roll(nowMs)
      const allowed = used + cost <= limit
      if (allowed) used += cost
      return answer(allowed, cost)
    },
    refund(nowMs, cost) {
      roll(nowMs)
      used = Math.max(0, used - cost)
    },
    reset(nowMs) {
      roll(nowMs)
      used = 0
    },
    setPolicy(nowMs, policy: Policy) {
      roll(nowMs)
      const next = policy as FixedWindowPolicy
      used = Number(scaled(BigInt(used), BigInt(limit), BigInt(next.limit)))
      limit = next.limit
      windowMs = BigInt(next.windowMs)
      // On the grid the count belongs to the new policy's window of this moment; an anchored window keeps its start.
      if (!anchored) opened = openNow()
    },
  }
}
