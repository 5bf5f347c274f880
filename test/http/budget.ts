/** A limiter that notes what is given back, and to whom. */
import type { Decision } from 'hotbucket'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'

export class Budget {
  readonly #limiter: RateLimiter
  /** All refunds so far, as [key, cost]. */
  readonly refunds: [string, number][] = []

  constructor(limit: number) {
    this.#limiter = new RateLimiter({ policy: fixedWindow({ limit, windowMs: 60_000 }), clock: new SharedClock() })
  }

  get handle() {
    return this.#limiter.handle
  }

  tier(name: string): this {
    this.#limiter.tier(name as 'default')
    return this
  }

  consume(key: string, cost?: number): Decision {
    return this.#limiter.consume(key, cost)
  }

  peek(key: string, cost?: number): Decision {
    return this.#limiter.peek(key, cost)
  }

  refund(key: string, cost = 1): void {
    this.refunds.push([key, cost])
    this.#limiter.refund(key, cost)
  }

  reset(key: string): void {
    this.#limiter.reset(key)
  }
}
