/** Fixed window: a count, and the number of the window that it belongs to. */
import type { FixedWindowPolicy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { Standstill } from './oracle.ts'

export function fixedWindowOracle(policy: FixedWindowPolicy, startMs: number): Oracle {
  const windowMs = BigInt(policy.windowMs)
  const time = new Standstill(startMs)
  let now = BigInt(startMs)
  let window = now / windowMs
  let used = 0

  const roll = (nowMs: number): void => {
    now = time.read(nowMs)
    if (now / windowMs === window) return
    window = now / windowMs
    used = 0
  }

  const untilEdge = (): number => time.wait((window + 1n) * windowMs - now)

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: policy.limit - used,
    retryAfterMs: cost > policy.limit ? Infinity : used + cost > policy.limit ? untilEdge() : 0,
    resetAfterMs: used === 0 ? 0 : untilEdge(),
  })

  return {
    peek(nowMs, cost) {
      roll(nowMs)
      return answer(used + cost <= policy.limit, cost)
    },
    consume(nowMs, cost) {
      roll(nowMs)
      const allowed = used + cost <= policy.limit
      if (allowed) used += cost
      return answer(allowed, cost)
    },
  }
}
