/** A slow, obvious reference for one key under one policy: exact, on a clock of whole milliseconds, one thread. */
import type { Decision, Policy } from '../../src/index.ts'

/** What a decision says about the bucket, without what the policy says. */
export type Answer = Pick<Decision, 'allowed' | 'remaining' | 'retryAfterMs' | 'resetAfterMs' | 'refusedBy'>

export interface Oracle {
  /** The answer of `peek`: what a call of `cost` would get, and what it would find. */
  peek(nowMs: number, cost: number): Answer
  /** The answer of `consume`: charges `cost` if it can. */
  consume(nowMs: number, cost: number): Answer
  /** Gives `cost` back, never above full. */
  refund(nowMs: number, cost: number): void
  /** Makes the key fresh. */
  reset(nowMs: number): void
  /** Changes the policy to another of the same algorithm; the fraction that was used is kept, rounded up. */
  setPolicy(nowMs: number, policy: Policy): void
}

/** The time of a limiter: it never goes back, but waits are told on the clock's own reading (G9). */
export class Standstill {
  #greatest: bigint
  #reading: bigint

  constructor(startMs: number) {
    this.#greatest = this.#reading = BigInt(startMs)
  }

  /** Takes a reading; returns the time to decide on. */
  read(nowMs: number): bigint {
    this.#reading = BigInt(nowMs)
    if (this.#reading > this.#greatest) this.#greatest = this.#reading
    return this.#greatest
  }

  /** Milliseconds from the last reading until `ms` after the time that was decided on; 0 stays 0. */
  wait(ms: bigint): number {
    return ms === 0n ? 0 : Number(this.#greatest - this.#reading + ms)
  }
}

export function ceilDivide(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}

/** `used` of `from`, as a part of `to`: the same fraction, rounded up. Where there was nothing to use, nothing was used. */
export function scaled(used: bigint, from: bigint, to: bigint): bigint {
  return from === 0n ? 0n : ceilDivide(used * to, from)
}

export type OracleOf<P extends Policy> = (policy: P, startMs: number) => Oracle
