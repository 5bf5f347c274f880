/** Token bucket in exact rationals: the level is a whole number of `1 / periodMs` tokens, so that a refill is whole. */
import type { TokenBucketPolicy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { ceilDivide, Standstill } from './oracle.ts'

export function tokenBucketOracle(policy: TokenBucketPolicy, startMs: number): Oracle {
  const limit = BigInt(policy.limit)
  const period = BigInt(policy.periodMs)
  // A limit of 0 denies always, whatever the burst.
  const full = policy.limit === 0 ? 0n : BigInt(policy.burst) * period
  const time = new Standstill(startMs)
  let level = full
  let at = BigInt(startMs)

  const refill = (nowMs: number): void => {
    const now = time.read(nowMs)
    level += (now - at) * limit
    if (level > full) level = full
    at = now
  }

  /** Milliseconds until the level reaches `wanted`. */
  const until = (wanted: bigint): number => {
    if (wanted > full) return Infinity
    return level >= wanted ? 0 : time.wait(ceilDivide(wanted - level, limit))
  }

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: Number(level / period),
    retryAfterMs: until(BigInt(cost) * period),
    resetAfterMs: until(full),
  })

  return {
    peek(nowMs, cost) {
      refill(nowMs)
      return answer(level >= BigInt(cost) * period, cost)
    },
    consume(nowMs, cost) {
      refill(nowMs)
      const price = BigInt(cost) * period
      const allowed = level >= price
      if (allowed) level -= price
      return answer(allowed || cost === 0, cost)
    },
  }
}
