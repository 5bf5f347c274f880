/** One policy on trial: its limiter, and what it did to whom. */
import type { SharedClock } from '../index.ts'
import { RateLimiter } from '../index.ts'
import { Burst } from './burst.ts'
import { Crowd } from './ledger.ts'
import type { NamedPolicy } from './policy-text.ts'

/** Keys that may be short of a full bucket at once, and the bytes that a table may take for them. */
const MAX_KEYS = 1_048_576
const TABLE_BYTES = 134_217_728

/** As many keys as the bytes hold: eight slots for five keys, and a log's ring of eight bytes for each unit of its limit. */
function keysFor({ policy: { algorithm, limit } }: NamedPolicy): number {
  const slot = 16 + (algorithm === 'sliding-window-log' ? 8 * (limit + 1) : 0)
  return Math.min(MAX_KEYS, Math.floor(TABLE_BYTES / (1.6 * slot)))
}

export class Trial {
  readonly named: NamedPolicy
  readonly limiter: RateLimiter
  admitted = 0
  refused = 0
  /** Refusals by row. */
  readonly refusals: Uint32Array
  /** What clients asked, and what was let through. */
  readonly asked: Burst
  readonly passed: Burst
  #crowd: Crowd | undefined

  constructor(named: NamedPolicy, clock: SharedClock, rows: number) {
    this.named = named
    // A client that finds the table full goes on: the abuse of others should not look like a refusal of this one.
    this.limiter = new RateLimiter({ policy: named.policy, maxKeys: keysFor(named), whenFull: 'allow', clock })
    this.refusals = new Uint32Array(rows)
    this.asked = new Burst(named.periodMs, rows)
    this.passed = new Burst(named.periodMs, rows)
  }

  /** Decides a request of `key`, which has `row` or else -1; true when it is admitted. */
  enter(key: string, row: number, timeMs: number): boolean {
    const allowed = this.limiter.allow(key)
    if (row >= 0) this.asked.enter(row, timeMs)
    if (allowed) {
      this.admitted++
      if (row >= 0) this.passed.enter(row, timeMs)
      return true
    }
    this.refused++
    if (row >= 0) this.refusals[row]!++
    else (this.#crowd ??= new Crowd()).refuse(key)
    return false
  }

  /** Refused clients that have no row. */
  get crowd(): Crowd | undefined {
    return this.#crowd
  }

  /** Requests that were let through because the table had no slot. */
  get tableFull(): number {
    return this.limiter.stats().tableFull
  }
}
