/** Token bucket in exact rationals: the level is a whole number of grains, so fine that a refill is whole. */
import type { Policy, TokenBucketPolicy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'
import { ceilDivide, scaled, Standstill } from './oracle.ts'

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}

/**
 * Grains of a token: a multiple of the reduced period, a grain being at most a microsecond or a millionth of a token.
 * Only a change of policy can tell how fine they are, since only that rounds, up to a whole grain.
 */
function grainsOf({ limit, periodMs }: TokenBucketPolicy): bigint {
  if (limit === 0) return BigInt(periodMs)
  const divisor = greatestCommonDivisor(BigInt(limit), BigInt(periodMs))
  const [l, p] = [BigInt(limit) / divisor, BigInt(periodMs) / divisor]
  const [byTime, byToken] = [ceilDivide(1_000n, l), ceilDivide(1_000_000n, p)]
  return p * (byTime < byToken ? byTime : byToken)
}

export function tokenBucketOracle(first: TokenBucketPolicy, startMs: number): Oracle {
  const time = new Standstill(startMs)
  let grains = 0n
  let perMs = 0n
  let full = 0n
  let level = 0n
  let at = BigInt(startMs)

  const adopt = (policy: TokenBucketPolicy): void => {
    grains = grainsOf(policy)
    perMs = (grains * BigInt(policy.limit)) / BigInt(policy.periodMs)
    // A limit of 0 denies always, whatever the burst.
    full = policy.limit === 0 ? 0n : BigInt(policy.burst) * grains
  }
  adopt(first)
  level = full

  const refill = (nowMs: number): void => {
    const now = time.read(nowMs)
    level += (now - at) * perMs
    if (level > full) level = full
    at = now
  }

  /** Milliseconds until the level reaches `wanted`. */
  const until = (wanted: bigint): number => {
    if (wanted > full) return Infinity
    return level >= wanted ? 0 : time.wait(ceilDivide(wanted - level, perMs))
  }

  const answer = (allowed: boolean, cost: number): Answer => ({
    allowed,
    remaining: Number(level / grains),
    retryAfterMs: until(BigInt(cost) * grains),
    resetAfterMs: until(full),
  })

  return {
    peek(nowMs, cost) {
      refill(nowMs)
      return answer(level >= BigInt(cost) * grains, cost)
    },
    consume(nowMs, cost) {
      refill(nowMs)
      const price = BigInt(cost) * grains
      const allowed = level >= price
      if (allowed) level -= price
      return answer(allowed || cost === 0, cost)
    },
    refund(nowMs, cost) {
      refill(nowMs)
      level += BigInt(cost) * grains
      if (level > full) level = full
    },
    reset(nowMs) {
      refill(nowMs)
      level = full
    },
    setPolicy(nowMs, policy: Policy) {
      refill(nowMs)
      const [used, before] = [full - level, full]
      adopt(policy as TokenBucketPolicy)
      level = full - scaled(used, before, full)
    },
  }
}
