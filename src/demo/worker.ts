/** The task of the pool: asks the limiter that all workers share, and does the work of an admitted request. */
import { pbkdf2Sync } from 'node:crypto'
import { workerData } from 'piscina'
import type { LimiterHandle } from '../index.ts'
import { RateLimiter, SharedClock } from '../index.ts'
import { MapBuckets } from './map-bucket.ts'

/** Rounds of hashing that a request costs: some tenths of a millisecond. */
const ROUNDS = 1_000

/** What the server gives each worker as it starts. */
export interface WorkerSetup {
  readonly handle: LimiterHandle
  readonly limit: number
  readonly periodMs: number
}

export interface Task {
  readonly client: string
  readonly path: string
}

export interface Answer {
  /** What the shared limiter said. */
  readonly admitted: boolean
  /** What a Map in this worker would have said. */
  readonly mapAdmitted: boolean
  readonly retryAfterMs: number
  readonly body: string
}

const { handle, limit, periodMs } = workerData as WorkerSetup
const limiter = RateLimiter.attach(handle)

// For comparison, a limiter of this worker's own, on the same clock.
const clock = new SharedClock(handle.clock)
const map = new MapBuckets(limit, periodMs)

export default function serve({ client, path }: Task): Answer {
  const mapAdmitted = map.allow(client, clock.nowMs())
  const { allowed, retryAfterMs } = limiter.consume(client)
  const body = allowed ? pbkdf2Sync(path, client, ROUNDS, 32, 'sha256').toString('hex') : 'too many requests'
  return { admitted: allowed, mapAdmitted, retryAfterMs, body }
}
