/** `hotbucket/express-rate-limit`: a store for express-rate-limit, with one budget for all threads. */
import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'
import { wrongType } from '../errors.ts'
import type { Decision } from '../index.ts'
import type { Backing, StoreLimiter } from './limiter.ts'
import { agree, backingOf, waitOf } from './limiter.ts'
import { Refusals } from './refusals.ts'

export interface HotbucketStoreOptions {
  readonly limiter: StoreLimiter
  /** The tier that counts; needed where there are several. */
  readonly tier?: string
  /** Put before each key; empty by default, so that the same limiter behind other middleware has the same buckets. */
  readonly prefix?: string
}

/**
 * `rateLimit({ windowMs, limit, store: new HotbucketStore({ limiter }) })`.
 *
 * The limiter's policy decides; `limit` and `windowMs` must be the same numbers, or every request fails with
 * ERR_HOTBUCKET_OPTION. A `limit` that is a function can only tighten it. Waits are told as times of the system's
 * wall clock. Under the options `skipFailedRequests` and `skipSuccessfulRequests` a refusal gives nothing back.
 */
export class HotbucketStore implements Store {
  /** Other instances over the same limiter see the same counts. */
  readonly localKeys = false
  readonly prefix: string
  readonly #backing: Backing
  readonly #refusals = new Refusals()
  #tracksRefusals = false
  /** Refused hits, as told to the middleware: above its limit, and above any where that is a function. */
  #refusedHits = 2 ** 31
  #fault: Error | undefined

  /** Takes the options, or the limiter alone. Throws ERR_HOTBUCKET_OPTION or ERR_HOTBUCKET_TIER. */
  constructor(options: HotbucketStoreOptions | StoreLimiter) {
    const { limiter, tier, prefix = '' }: HotbucketStoreOptions = 'consume' in options ? { limiter: options } : options
    if (typeof prefix !== 'string') throw wrongType('ERR_HOTBUCKET_OPTION', 'prefix', prefix, 'a string')
    this.#backing = backingOf(limiter, tier)
    this.prefix = prefix
  }

  /** Called by the middleware when it is made. */
  init({ limit, windowMs, skipFailedRequests }: Options): void {
    this.#tracksRefusals = skipFailedRequests
    if (typeof limit === 'number') this.#refusedHits = this.#backing.capacity + 1
    try {
      agree(this.#backing, 'limit', limit, 'windowMs', windowMs)
      if (skipFailedRequests && this.#backing.bound.refund === undefined) {
        throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', this.#backing.bound, 'a limiter with refund(), where skipFailedRequests is given')
      }
    } catch (error) {
      // The middleware only logs what `init` throws, and would then go on with a limit that is not kept.
      this.#fault = error as Error
      throw error
    }
  }

  get(key: string): ClientRateLimitInfo {
    const decision = this.#backing.bound.peek(this.prefix + key)
    return this.#info(decision, this.#backing.capacity - decision.remaining)
  }

  increment(key: string): ClientRateLimitInfo {
    if (this.#fault !== undefined) throw this.#fault
    const decision = this.#backing.bound.consume(this.prefix + key)
    if (!decision.allowed && this.#tracksRefusals) this.#refusals.add(key)
    return this.#info(decision, decision.allowed ? this.#hits(decision) : this.#refusedHits)
  }

  decrement(key: string): void {
    if (this.#refusals.take(key)) return
    this.#backing.bound.refund?.(this.prefix + key, 1)
  }

  resetKey(key: string): void {
    const { bound } = this.#backing
    if (bound.reset === undefined) throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', bound, 'a limiter with reset()')
    bound.reset(this.prefix + key)
  }

  /** At least 1, which the middleware insists on: a token may have come back while the call was made. */
  #hits({ remaining }: Decision): number {
    return Math.max(1, this.#backing.capacity - remaining)
  }

  #info(decision: Decision, totalHits: number): ClientRateLimitInfo {
    const waitMs = waitOf(decision)
    return { totalHits, resetTime: Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined }
  }
}
