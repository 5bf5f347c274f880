/** The clients of a replay, in memory that is bounded: a row for each of the first ones, and counts of the others. */
import { fixedWindow, RateLimiter, SharedClock } from '../index.ts'
import type { RefusedKey } from '../metrics/sketch.ts'
import { label, RefusedKeys } from '../metrics/sketch.ts'

/** Clients with a row of their own. */
export const ROWS = 131_072
/** Clients without one that are told apart: some 14 MB. */
const CROWD = 524_288
/** Keys of the crowd whose refusals are kept by name. */
const NAMED = 64

/** Names the rows of clients, and counts those who came too late for one. */
export class Ledger {
  readonly #rows = new Map<string, number>()
  readonly #limit: number
  readonly names: string[] = []
  readonly requests: Uint32Array
  #crowd: Crowd | undefined

  constructor(limit = ROWS) {
    this.#limit = limit
    this.requests = new Uint32Array(limit)
  }

  /** The row of `key`; -1 where all are taken by others. Counts the request. */
  enter(key: string): number {
    const known = key.length > 128 ? label(key) : key
    let row = this.#rows.get(known)
    if (row === undefined) {
      if (this.names.length === this.#limit) {
        this.#crowd ??= new Crowd()
        this.#crowd.enter(known)
        return -1
      }
      row = this.names.length
      // A copy: the key is part of a line, which it would keep alive.
      const name = Buffer.from(known, 'utf16le').toString('utf16le')
      this.names.push(name)
      this.#rows.set(name, row)
    }
    this.requests[row]!++
    return row
  }

  /** Clients in all; at least, where `isEstimate`. */
  get clients(): number {
    return this.names.length + (this.#crowd?.clients ?? 0)
  }

  get isEstimate(): boolean {
    return this.#crowd?.isFull ?? false
  }

  /** Whether some clients have no row. */
  get overflowed(): boolean {
    return this.#crowd !== undefined
  }
}

/** Tells keys apart without keeping them: hotbucket's own table, under a limit of one for ever, admits a key once. */
export class Crowd {
  readonly #once = new RateLimiter({
    policy: fixedWindow({ limit: 1, windowMs: 1_000 }),
    maxKeys: CROWD,
    clock: new SharedClock(0),
  })
  readonly #refused = new RefusedKeys(NAMED)
  #clients = 0

  /** True for a key that is met for the first time. */
  enter(key: string): boolean {
    const isNew = this.#once.allow(key)
    this.#clients += Number(isNew)
    return isNew
  }

  /** Counts a refusal of `key`. */
  refuse(key: string): void {
    this.enter(key)
    this.#refused.add(key)
  }

  get clients(): number {
    return this.#clients
  }

  /** Whether there were more keys than the table holds. */
  get isFull(): boolean {
    return this.#once.stats().tableFull > 0
  }

  get worst(): readonly RefusedKey[] {
    return this.#refused.top()
  }
}
