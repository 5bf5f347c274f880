/** The task of the live page's pool: asks the shared limiter, and a Map of this worker's own for comparison. */
import { pbkdf2Sync } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import { workerData } from 'piscina'
import type { LimiterHandle } from '../index.ts'
import { RateLimiter, SharedClock } from '../index.ts'
import { MapBuckets } from './map-bucket.ts'

/** Rounds of hashing that an admitted request costs: about a millisecond. */
const ROUNDS = 5_000

export type Tier = 'free' | 'pro'

export interface LiveSetup {
  readonly handle: LimiterHandle<Tier>
  readonly limits: Readonly<Record<Tier, number>>
  readonly periodMs: number
}

export interface LiveTask {
  /** Without one, only the worker's name is asked. */
  readonly key?: string
  readonly tier: Tier
}

export interface LiveAnswer {
  readonly worker: number
  readonly admitted: boolean
  /** What the Map in this worker said. */
  readonly mapAdmitted: boolean
}

const { handle, limits, periodMs } = workerData as LiveSetup
const limiter = RateLimiter.attach(handle)
const clock = new SharedClock(handle.clock)
const maps = { free: new MapBuckets(limits.free, periodMs), pro: new MapBuckets(limits.pro, periodMs) }

export default function serve({ key, tier }: LiveTask): LiveAnswer {
  if (key === undefined) return { worker: threadId, admitted: false, mapAdmitted: false }
  const mapAdmitted = maps[tier].allow(key, clock.nowMs())
  const admitted = limiter.tier(tier).allow(key)
  if (admitted) pbkdf2Sync(key, tier, ROUNDS, 32, 'sha256')
  return { worker: threadId, admitted, mapAdmitted }
}
