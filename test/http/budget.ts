/** A limiter of one thread with refund: so many units, that never come back by themselves. */
import type { Decision } from 'hotbucket'

export class Budget {
  readonly limit: number
  readonly #spent = new Map<string, number>()
  /** All refunds so far, as [key, cost]. */
  readonly refunds: [string, number][] = []

  constructor(limit: number) {
    this.limit = limit
  }

  consume(key: string, cost = 1): Decision {
    const spent = this.#spent.get(key) ?? 0
    const allowed = spent + cost <= this.limit
    if (allowed) this.#spent.set(key, spent + cost)
    return this.peek(key, allowed)
  }

  refund(key: string, cost = 1): void {
    this.refunds.push([key, cost])
    this.#spent.set(key, Math.max(0, (this.#spent.get(key) ?? 0) - cost))
  }

  peek(key: string, allowed = true): Decision {
    const remaining = this.limit - (this.#spent.get(key) ?? 0)
    return { allowed, tier: 'default', limit: this.limit, remaining, retryAfterMs: remaining > 0 ? 0 : 60_000, resetAfterMs: 60_000 }
  }
}
