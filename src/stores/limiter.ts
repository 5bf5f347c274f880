/** What the stores share: a tier of a limiter, seen as a counter of hits. */
import { outOfRange, wrongType } from '../errors.ts'
import type { Decision, Policy } from '../index.ts'

/** One tier's verbs. */
export interface Bound {
  consume(key: string, cost?: number): Decision
  peek(key: string, cost?: number): Decision
  refund?(key: string, cost?: number): unknown
  reset?(key: string): unknown
}

/** As much of a `RateLimiter` as a store needs. */
export interface StoreLimiter extends Bound {
  tier(name: string): Bound
  readonly handle: { readonly tiers: Readonly<Record<string, Policy>> }
}

/** A limiter with the tier that counts. */
export interface Backing {
  readonly bound: Bound
  /** Most hits at once. */
  readonly capacity: number
  readonly periodMs: number
}

/** Throws `TypeError` ERR_HOTBUCKET_OPTION, `RangeError` ERR_HOTBUCKET_TIER. */
export function backingOf(limiter: StoreLimiter | undefined, tier: string | undefined): Backing {
  if (typeof limiter?.consume !== 'function') throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a RateLimiter')
  const { tiers } = limiter.handle
  const names = Object.keys(tiers)
  const name = tier ?? names[0]!
  if (tier === undefined && names.length > 1) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'tier', tier, `given, where there are several: one of ${names.join(', ')}`)
  }
  const bound = limiter.tier(name)
  const policy = tiers[name]!
  if (policy.algorithm === 'all-of') {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'tier', name, 'one with a single limit, as the middleware has: stack a store for each part')
  }
  return {
    bound,
    capacity: 'burst' in policy ? policy.burst : policy.limit,
    periodMs: 'periodMs' in policy ? policy.periodMs : policy.windowMs,
  }
}

/**
 * Throws `RangeError` ERR_HOTBUCKET_OPTION where the middleware was given other numbers than the policy's: the
 * limiter decides, and a middleware that compares with a limit of its own would let through what was refused.
 */
export function agree({ capacity, periodMs }: Backing, limitField: string, limit: unknown, windowField: string, windowMs: unknown): void {
  if (typeof limit === 'number' && limit !== capacity) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', limitField, limit, `${capacity}, as in the limiter's policy`)
  }
  if (typeof windowMs === 'number' && windowMs !== periodMs) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', windowField, windowMs, `${periodMs}, as in the limiter's policy`)
  }
}

/** Milliseconds to tell a client: until a call is allowed where nothing is left, else until all is back. */
export function waitOf({ allowed, remaining, retryAfterMs, resetAfterMs }: Decision): number {
  return allowed && remaining > 0 ? resetAfterMs : retryAfterMs
}
