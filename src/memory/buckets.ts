/** All buckets of one arena as one attached thread uses them: near cache, then hint, then the search and insertion. */
import type { Outlook, Step, Terms } from '../arithmetic/algorithm.ts'
import { waitMs } from '../arithmetic/algorithm.ts'
import type { Clock } from '../clock/clock.ts'
import { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import type { Driver } from './cas.ts'
import { CasDriver, DONE, MISS } from './cas.ts'
import type { Identity } from './identity.ts'
import { KeyCache } from './key-cache.ts'
import { TALLY } from './layout.ts'
import { MutexDriver } from './mutex.ts'
import type { TableVerdict } from './table.ts'
import { FULL, Table } from './table.ts'
import { Tally } from './tally.ts'

/** The key has no bucket, so it is full; nothing was made for it. */
export const ABSENT = 5
export type BucketVerdict = TableVerdict | typeof ABSENT

/** Looks at a state and leaves it. */
const look: Step = () => false

export class Buckets {
  readonly arena: Arena
  readonly #driver: Driver
  readonly #table: Table
  readonly #tally: Tally
  readonly #reader: Reader
  readonly #identity: Identity
  readonly #cache = new KeyCache()
  readonly #policies: number[] = []
  readonly #terms: Terms[] = []
  #verdict: BucketVerdict = ABSENT

  constructor(arena: Arena, clock: Clock) {
    const ticket = arena.takeTicket()
    this.arena = arena
    this.#tally = new Tally(arena, ticket)
    const cas = new CasDriver(arena, this.#tally)
    this.#driver = arena.mutex ? new MutexDriver(arena, cas, this.#tally, ticket) : cas
    this.#table = new Table(arena, this.#driver, this.#tally)
    this.#identity = arena.hasher()
    let horizonMs = Infinity
    for (let tier = 0; tier < arena.tierCount; tier++) {
      const policy = arena.policyIndex(tier)
      this.#policies.push(policy)
      this.#terms.push(arena.terms(policy))
      horizonMs = Math.min(horizonMs, arena.terms(policy).horizonMs)
    }
    this.#reader = new Reader(clock, arena.bornMs, arena.bornMs + horizonMs)
  }

  /** The policy of `tier` in units. */
  terms(tier: number): Terms {
    return this.#terms[tier]!
  }

  /** Charges the bucket of (tier, key) with `cost`, making it if need be, and counts the answer. */
  spend(tier: number, key: string, cost: number): boolean {
    const terms = this.#terms[tier]!
    if (this.#apply(tier, key, terms, cost > terms.burst ? look : terms.algorithm.spend, cost) !== DONE) return this.#refused()
    this.#tally.count(TALLY.allowed)
    return true
  }

  #refused(): boolean {
    const full = this.#verdict === FULL
    if (full) this.#tally.count(TALLY.tableFull)
    const allowed = full && this.arena.allowWhenFull
    this.#tally.count(allowed ? TALLY.allowed : TALLY.denied)
    return allowed
  }

  /** Looks at the bucket of (tier, key) for `outlook`; makes and changes nothing. */
  look(tier: number, key: string): void {
    this.#apply(tier, key, this.#terms[tier]!, look, 0)
  }

  /** What the last `spend` or `look` left, for a further call of `cost`: waits in whole milliseconds from the clock's own reading. */
  outlook(tier: number, cost: number, out: Outlook): Outlook {
    const terms = this.#terms[tier]!
    const { algorithm } = terms
    const { ms, rawMs } = this.#reader
    const now = algorithm.reading(terms, ms)
    const state = this.#driver.state
    if (this.#verdict === FULL || this.#verdict === ABSENT) state[0] = algorithm.fresh(terms, now)
    algorithm.describe(state, 0, terms, now, cost, out)
    // What holds at the time decided on holds now, though the clock has stepped back since: no wait.
    out.retryAt = out.retryAt <= now ? 0 : waitMs(terms, rawMs, out.retryAt)
    out.resetAt = out.resetAt <= now ? 0 : waitMs(terms, rawMs, out.resetAt)
    if (this.#verdict === FULL && !this.arena.allowWhenFull) {
      out.remaining = 0
      out.retryAt = out.resetAt = this.#table.waitForSlot(this.#identity, rawMs)
    }
    return out
  }

  /** Frees every full slot; returns how many. */
  sweep(): number {
    return this.#table.sweep(this.#reader.read())
  }

  /** Slots that hold a key. May be outdated on return. */
  keys(): number {
    return this.#table.keys()
  }

  /** Applies `step` to the bucket of (tier, key). Only a spend makes an absent bucket. */
  #apply(tier: number, key: string, terms: Terms, step: Step, cost: number): BucketVerdict {
    const cache = this.#cache
    const driver = this.#driver
    driver.now[0] = terms.algorithm.reading(terms, this.#reader.read())
    const entry = cache.place(tier, key)
    if (cache.holds(entry, tier, key)) {
      const { slots, h0, h1 } = cache
      this.#verdict = driver.transact(slots[entry]!, h0[entry]!, h1[entry]!, this.#policies[tier]!, terms, step, cost)
      if (this.#verdict !== MISS) return this.#verdict
    }
    return (this.#verdict = this.#seek(entry, tier, key, terms, step, cost))
  }

  /** `#apply` for a key whose slot is not known. */
  #seek(entry: number, tier: number, key: string, terms: Terms, step: Step, cost: number): BucketVerdict {
    const identity = this.#identity
    identity.of(tier, key)
    const { h0, h1 } = identity
    const policy = this.#policies[tier]!
    let verdict: BucketVerdict = MISS
    let slot = this.#table.find(h0, h1)
    if (slot >= 0) verdict = this.#driver.transact(slot, h0, h1, policy, terms, step, cost)
    if (verdict === MISS && step === terms.algorithm.spend) {
      verdict = this.#table.insert(identity, policy, terms, step, this.#reader, cost)
      slot = this.#table.slot
    } else if (verdict === MISS) {
      slot = this.#table.search(identity)
      if (slot >= 0) verdict = this.#driver.transact(slot, h0, h1, policy, terms, step, cost)
      if (verdict === MISS) return ABSENT
    }
    if (verdict !== FULL) this.#cache.put(entry, tier, key, slot, h0, h1)
    return verdict
  }
}
