/** A broken twin: keeps whole tokens and moves its mark to now, so that every poll throws the fraction away. */
import type { Trial } from '../oracle/registry.ts'

export class TruncatingBucket {
  readonly #trial: Trial
  #tokens: number
  #at: number

  constructor(trial: Trial, startMs: number) {
    this.#trial = trial
    this.#tokens = trial.burst
    this.#at = startMs
  }

  allow(nowMs: number, cost: number): boolean {
    const { burst, periodMs, limit } = this.#trial
    this.#tokens = Math.min(burst, this.#tokens + Math.floor(((nowMs - this.#at) * limit) / periodMs))
    this.#at = nowMs
    if (cost > this.#tokens) return false
    this.#tokens -= cost
    return true
  }
}
