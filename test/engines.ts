/** The engines that every claim is tested on, and a limiter on a clock that only the test moves. */
import type { Clock, Policy } from '../src/index.ts'
import { RateLimiter, SharedClock } from '../src/index.ts'

export const engines = ['cas', 'mutex'] as const
export type Engine = (typeof engines)[number]

export interface Bench {
  readonly limiter: RateLimiter
  readonly clock: SharedClock
}

interface BenchOptions {
  readonly startMs?: number
  readonly maxKeys?: number
  readonly whenFull?: 'deny' | 'allow'
  readonly lockTimeoutMs?: number
}

/** A limiter of one policy whose clock stands at `startMs` (0 by default). */
export function bench(sync: Engine, policy: Policy, { startMs = 0, ...options }: BenchOptions = {}): Bench {
  const clock = new SharedClock(startMs)
  return { limiter: new RateLimiter({ policy, sync, clock, ...options }), clock }
}

/** How many of `calls` calls of `cost` are allowed now. */
export function admitted(limiter: { allow(key: string, cost?: number): boolean }, key: string, calls: number, cost = 1): number {
  let allowed = 0
  for (let call = 0; call < calls; call++) if (limiter.allow(key, cost)) allowed++
  return allowed
}

/** A clock made of a function. */
export function clockOf(nowMs: () => number): Clock {
  return { nowMs }
}
