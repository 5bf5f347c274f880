/** `hotbucket/fastify-rate-limit`: a store for @fastify/rate-limit, with one budget for all threads. */
import { wrongType } from '../errors.ts'
import type { Decision } from '../index.ts'
import type { Backing, StoreLimiter } from './limiter.ts'
import { agree, backingOf, waitOf } from './limiter.ts'

/** What a route's `config.rateLimit` may add. */
interface RouteOptions {
  readonly tier?: unknown
  readonly max?: unknown
  readonly timeWindow?: unknown
}

interface Hits {
  readonly current: number
  readonly ttl: number
}

type Callback = (error: Error | null, result?: Hits) => void

/** The store of one limiter, as the plugin makes it: from its own options. */
export interface HotbucketStoreClass {
  new (options: object): HotbucketStore
}

/**
 * `app.register(rateLimit, { max, timeWindow, store: HotbucketStore.of(limiter) })`.
 *
 * The limiter's policy decides; `max` and `timeWindow` must be the same numbers (ERR_HOTBUCKET_OPTION when the plugin
 * or the route is registered), or functions, which can only tighten it. A route names its tier in
 * `config: { rateLimit: { tier: 'pro', max, timeWindow } }`; routes of one tier share its buckets.
 */
export class HotbucketStore {
  readonly #limiter: StoreLimiter
  readonly #tier: string | undefined
  readonly #backing: Backing

  /** For use by `of`. Throws ERR_HOTBUCKET_OPTION or ERR_HOTBUCKET_TIER. */
  constructor(limiter: StoreLimiter, tier: string | undefined, { max, timeWindow }: RouteOptions) {
    this.#limiter = limiter
    this.#tier = tier
    this.#backing = backingOf(limiter, tier)
    agree(this.#backing, 'max', max, 'timeWindow', timeWindow)
  }

  /** The class to pass as `store`. `tier` is needed where there are several. Throws ERR_HOTBUCKET_OPTION or ERR_HOTBUCKET_TIER. */
  static of(limiter: StoreLimiter, options: { readonly tier?: string } = {}): HotbucketStoreClass {
    backingOf(limiter, options.tier)
    return class extends HotbucketStore {
      constructor(pluginOptions: object) {
        super(limiter, options.tier, pluginOptions as RouteOptions)
      }
    }
  }

  /** One hit. */
  incr(key: string, callback: Callback, _timeWindow?: number, max?: number): void {
    this.#answer(callback, () => {
      const decision = this.#backing.bound.consume(key)
      return this.#result(decision, decision.allowed ? this.#spent(decision) : Math.max(this.#backing.capacity, max ?? 0) + 1)
    })
  }

  /** The hits so far, adding none. */
  read(key: string, callback: Callback): void {
    this.#answer(callback, () => {
      const decision = this.#backing.bound.peek(key)
      return this.#result(decision, this.#spent(decision))
    })
  }

  /** The store of a route that has options of its own. */
  child(routeOptions: object): HotbucketStore {
    const { tier, ...numbers } = routeOptions as RouteOptions
    if (tier !== undefined && typeof tier !== 'string') throw wrongType('ERR_HOTBUCKET_OPTION', 'tier', tier, 'a string')
    return new HotbucketStore(this.#limiter, tier ?? this.#tier, numbers)
  }

  #spent({ remaining }: Decision): number {
    return this.#backing.capacity - remaining
  }

  #result(decision: Decision, current: number): Hits {
    const waitMs = waitOf(decision)
    // A wait for ever has no number here; the window is the longest that the plugin can tell.
    return { current, ttl: Number.isFinite(waitMs) ? waitMs : this.#backing.periodMs }
  }

  /** Calls back once, outside of the `try`: what the callback throws is not the limiter's error. */
  #answer(callback: Callback, verb: () => Hits): void {
    let hits: Hits
    try {
      hits = verb()
    } catch (error) {
      callback(error as Error)
      return
    }
    callback(null, hits)
  }
}
