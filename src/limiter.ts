/** The facade: checks what it is given, ties policies, clock and memory together, and holds no arithmetic. */
import { comparableTerms, comparePolicies } from './agreement.ts'
import type { Decision, Stats, TierLimiter } from './answers.ts'
import type { Outlook } from './arithmetic/algorithm.ts'
import { policyOf, termsOf } from './arithmetic/compile.ts'
import type { Policy } from './arithmetic/policy.ts'
import { type Clock, firstReading } from './clock/clock.ts'
import { handleOf } from './clock/travel.ts'
import { badHandle, closedError, outOfRange, shown, wrongType } from './errors.ts'
import { Arena } from './memory/arena.ts'
import { Buckets } from './memory/buckets.ts'
import { Tally } from './memory/tally.ts'
import type { AttachOptions, LimiterHandle, RateLimiterOptions } from './options.ts'
import { checkedClock, checkedHandle, checkedObject, checkedOptions, checkedTierOf } from './options.ts'

/** What a limiter is made of; how `attach` reaches the constructor. */
class Parts<T extends string> {
  constructor(
    arena: Arena,
    names: readonly T[],
    clock: Clock,
    tierOf: ((key: string) => T) | undefined,
  ) {
    this.arena = arena
    this.names = names
    this.clock = clock
    this.tierOf = tierOf
  }
  readonly arena: Arena
  readonly names: readonly T[]
  readonly clock: Clock
  readonly tierOf: ((key: string) => T) | undefined
}

function build<T extends string>(options: RateLimiterOptions<T>): Parts<T> {
  const checked = checkedOptions(options)
  const arena = Arena.create({ ...checked, bornMs: firstReading(checked.clock) })
  return new Parts(arena, [...checked.tiers.keys()] as T[], checked.clock, checked.tierOf)
}

function checkCost(cost: unknown): void {
  if (Number.isSafeInteger(cost) && (cost as number) >= 0) return
  throw outOfRange('ERR_HOTBUCKET_COST', 'cost', cost, 'a whole number from 0')
}

/**
 * A keyed rate limiter whose buckets live in shared memory: one budget, however many threads attach.
 *
 * All verbs answer at once, never sleep, start no timer and keep no process alive. Thread-safe: any number of
 * threads may each attach and call at the same time; one instance belongs to the thread that made it.
 */
export class RateLimiter<T extends string = 'default'> implements TierLimiter<T> {
  readonly #arena: Arena
  readonly #buckets: Buckets
  readonly #names: readonly T[]
  readonly #indices: ReadonlyMap<string, number>
  readonly #clock: Clock
  readonly #tierOf: ((key: string) => T) | undefined
  readonly #oneTier: boolean
  readonly #outlook: Outlook = { remaining: 0, retryAt: 0, resetAt: 0 }
  #handle: LimiterHandle<T> | undefined
  #closed = false

  /**
   * Makes the arena. Throws `RangeError` or `TypeError` ERR_HOTBUCKET_OPTION, `RangeError` ERR_HOTBUCKET_POLICY,
   * ERR_HOTBUCKET_CLOCK, or what the clock throws.
   */
  constructor(options: RateLimiterOptions<T>) {
    const parts = (options as unknown) instanceof Parts ? (options as unknown as Parts<T>) : build(options)
    this.#arena = parts.arena
    this.#names = parts.names
    this.#indices = new Map(parts.names.map((name, index) => [name, index]))
    this.#clock = parts.clock
    this.#tierOf = parts.tierOf
    this.#oneTier = parts.names.length === 1 && parts.tierOf === undefined
    this.#buckets = new Buckets(parts.arena, parts.clock)
  }

  /**
   * The limiter of a handle, in this thread. Needs no answer from any other thread and uses nothing up.
   * Throws `TypeError` ERR_HOTBUCKET_HANDLE for a foreign, truncated or older buffer, or policies that differ.
   */
  static attach<T extends string>(handle: LimiterHandle<T>, options: AttachOptions<NoInfer<T>> = {}): RateLimiter<T> {
    const { buffer, tiers, policyVersion, clock } = checkedHandle(handle)
    checkedObject('options', options)
    const names = Object.keys(tiers) as T[]
    const arena = Arena.open(buffer, names)
    // A pool's `workerData` outlives policy changes; a worker that it starts later takes the policies of the arena.
    const { version } = arena.policies
    const held = new Map(names.map((name, tier) => [name as string, policyOf(arena.policies.parts(tier).map((part) => part.terms))]))
    if (!Number.isInteger(policyVersion) || policyVersion < 1 || policyVersion > version) throw badHandle(`its policy version is ${shown(policyVersion)}, the arena's ${version}`)
    // A change while they were read shows in the version.
    if (policyVersion === version && arena.policies.version === version) comparePolicies(held, tiers, 'the handle')
    if (options.tiers !== undefined) comparePolicies(new Map(Object.entries(tiers)), checkedObject('tiers', options.tiers), 'this thread')
    return new RateLimiter(new Parts(arena, names, checkedClock(options.clock, clock), checkedTierOf(options.tierOf)) as unknown as RateLimiterOptions<T>)
  }

  /** What `attach` takes in another thread: pass it as `workerData` or in a message. The same frozen object until a policy changes. */
  get handle(): LimiterHandle<T> {
    this.#open()
    // Before the tiers: a change in between makes the version old, and then the tiers are not compared.
    const policyVersion = this.#arena.policies.version
    if (this.#handle?.policyVersion === policyVersion) return this.#handle
    const tiers = Object.freeze(Object.fromEntries(this.#names.map((name, tier) => [name, policyOf(this.#buckets.terms(tier))]))) as Record<T, Policy>
    return (this.#handle = Object.freeze({ buffer: this.#arena.buffer, tiers, policyVersion, ...handleOf(this.#clock) }))
  }

  /**
   * Spends `cost` (1 by default) from the key's bucket if it can, and says whether it could. Creates no object.
   *
   * `key` is any string but the empty one, compared by code unit; `cost` a whole number from 0, and 0 succeeds and
   * changes nothing. Throws `TypeError` ERR_HOTBUCKET_KEY, `RangeError` ERR_HOTBUCKET_COST, ERR_HOTBUCKET_TIER or
   * ERR_HOTBUCKET_CLOCK, `Error` ERR_HOTBUCKET_CLOSED, and what `tierOf` or the clock throws; then nothing is spent.
   * Thread-safe.
   */
  allow(key: string, cost = 1): boolean {
    this.#check(key, cost)
    return cost === 0 || this.#buckets.spend(this.#tierIndex(key), key, cost)
  }

  /** As `allow`, with a Decision for an answer. Thread-safe. */
  consume(key: string, cost = 1): Decision<T> {
    this.#check(key, cost)
    return this.#consume(this.#tierIndex(key), key, cost)
  }

  /** What `consume` would answer now; spends nothing, creates nothing. Thread-safe, but may be outdated on return. */
  peek(key: string, cost = 1): Decision<T> {
    this.#check(key, cost)
    return this.#peek(this.#tierIndex(key), key, cost)
  }

  /** Milliseconds until a call would be allowed: 0 for now, `Infinity` for never. Thread-safe, but may be outdated on return. */
  retryAfterMs(key: string, cost = 1): number {
    return this.peek(key, cost).retryAfterMs
  }

  /**
   * Gives `cost` (1 by default) back to the key's bucket: never above full, and where a window has closed since, the
   * new one is what it gives to, so refund at once. Errors as for `allow`. Thread-safe.
   */
  refund(key: string, cost = 1): void {
    this.#check(key, cost)
    this.#buckets.refund(this.#tierIndex(key), key, cost)
  }

  /** Makes the key fresh, for every thread. Errors as for `allow`. Thread-safe. */
  reset(key: string): void {
    this.#check(key, 1)
    this.#buckets.refund(this.#tierIndex(key), key, Number.MAX_SAFE_INTEGER)
  }

  /**
   * Changes a tier's policy to one of the same algorithm, for every thread's next call; a bucket keeps the fraction
   * that it had used. A limit of 0 has no fractions: buckets come back from it full. A sliding window log can change its window only while its limit and the unit of its times stay.
   * Reads the whole table, twice. Throws `RangeError` ERR_HOTBUCKET_TIER, ERR_HOTBUCKET_POLICY, and ERR_HOTBUCKET_OPTION where old and new parts of all tiers are more than 63. Thread-safe.
   */
  setPolicy(tier: T, policy: Policy): void {
    this.#open()
    const index = this.#indexOf(tier)
    const terms = termsOf(policy, this.#arena.bornMs)
    comparableTerms(this.#buckets.terms(index), terms)
    this.#buckets.setPolicy(index, terms)
  }

  /** The verbs bound to one tier. Throws `RangeError` ERR_HOTBUCKET_TIER for an unknown name. Thread-safe. */
  tier<N extends T>(name: N): TierLimiter<N> {
    this.#open()
    const tier = this.#indexOf(name)
    const checked = <R>(key: string, cost: number, verb: (tier: number, key: string, cost: number) => R): R => {
      this.#check(key, cost)
      return verb(tier, key, cost)
    }
    const allow = this.#allow.bind(this)
    const consume = this.#consume.bind(this) as unknown as (tier: number, key: string, cost: number) => Decision<N>
    const peek = this.#peek.bind(this) as unknown as (tier: number, key: string, cost: number) => Decision<N>
    return {
      allow: (key, cost = 1) => checked(key, cost, allow),
      consume: (key, cost = 1) => checked(key, cost, consume),
      peek: (key, cost = 1) => checked(key, cost, peek),
      retryAfterMs: (key, cost = 1) => checked(key, cost, peek).retryAfterMs,
      refund: (key, cost = 1) => checked(key, cost, (index) => this.#buckets.refund(index, key, cost)),
      reset: (key) => checked(key, 1, (index) => this.#buckets.refund(index, key, Number.MAX_SAFE_INTEGER)),
    }
  }

  /** Frees every full slot and returns how many; never needed for correctness. Reads the whole table. Thread-safe. */
  sweep(): number {
    this.#open()
    return this.#buckets.sweep()
  }

  /** Counts and sizes. Reads the whole table. Thread-safe, but may be outdated on return. */
  stats(): Stats {
    this.#open()
    const arena = this.#arena
    return {
      allowed: Tally.sum(arena, 'allowed'),
      denied: Tally.sum(arena, 'denied'),
      reclaimed: Tally.sum(arena, 'reclaimed'),
      tableFull: Tally.sum(arena, 'tableFull'),
      casRetries: Tally.sum(arena, 'casRetries'),
      lockTimeouts: Tally.sum(arena, 'lockTimeouts'),
      contended: Tally.sum(arena, 'contended'),
      keys: this.#buckets.keys(),
      capacity: arena.capacity,
      bytes: arena.buffer.byteLength,
    }
  }

  /** Ends this attachment; other threads go on. Later calls throw ERR_HOTBUCKET_CLOSED. Optional, and may be repeated. */
  close(): void {
    this.#closed = true
  }

  /** `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close()
  }

  #open(): void {
    if (this.#closed) throw closedError()
  }

  /** Throws unless the limiter is open, the key is one and the cost is one. */
  #check(key: unknown, cost: unknown): void {
    if (this.#closed || typeof key !== 'string' || key.length === 0) this.#refuseKey(key)
    if (cost !== 1) checkCost(cost)
  }

  #refuseKey(key: unknown): never {
    this.#open()
    throw wrongType('ERR_HOTBUCKET_KEY', 'key', key, 'a string that is not empty')
  }

  #indexOf(name: unknown): number {
    const tier = this.#indices.get(name as string)
    if (tier === undefined) throw outOfRange('ERR_HOTBUCKET_TIER', 'tier', name, `one of ${this.#names.join(', ')}`)
    return tier
  }

  #tierIndex(key: string): number {
    return this.#oneTier ? 0 : this.#askTier(key)
  }

  #askTier(key: string): number {
    if (this.#tierOf !== undefined) return this.#indexOf(this.#tierOf(key))
    throw outOfRange('ERR_HOTBUCKET_TIER', 'tierOf', undefined, 'given, where there are several tiers, or else ask limiter.tier(name)')
  }

  #allow(tier: number, key: string, cost: number): boolean {
    return cost === 0 || this.#buckets.spend(tier, key, cost)
  }

  #consume(tier: number, key: string, cost: number): Decision<T> {
    if (cost === 0) return this.#peek(tier, key, cost)
    return this.#decision(this.#buckets.spend(tier, key, cost), tier, key, cost)
  }

  #peek(tier: number, key: string, cost: number): Decision<T> {
    this.#buckets.look(tier, key, cost)
    return this.#decision(undefined, tier, key, cost)
  }

  /** The Decision after a spend that was `allowed` or not; of a look, which is allowed where no part has to wait. */
  #decision(spent: boolean | undefined, tier: number, key: string, cost: number): Decision<T> {
    const parts = this.#buckets.terms(tier)
    let [remaining, tightest, retryAfterMs, slowest, resetAfterMs] = [Infinity, 0, -1, 0, 0]
    for (let at = 0; at < parts.length; at++) {
      const outlook = this.#buckets.outlook(tier, at, key, cost, this.#outlook)
      if (outlook.remaining < remaining) [remaining, tightest] = [outlook.remaining, at]
      if (outlook.retryAt > retryAfterMs) [retryAfterMs, slowest] = [outlook.retryAt, at]
      resetAfterMs = Math.max(resetAfterMs, outlook.resetAt)
    }
    const allowed = spent ?? retryAfterMs === 0
    const { limit } = parts[allowed ? tightest : slowest]!
    const decision = { allowed, tier: this.#names[tier]!, limit, remaining, retryAfterMs, resetAfterMs }
    return parts.length > 1 && !allowed ? { ...decision, refusedBy: slowest } : decision
  }
}
