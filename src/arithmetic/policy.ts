/** Policies as users write them: plain frozen data that survives a structured clone. */
import { outOfRange, wrongType } from '../errors.ts'
import type { Algorithm, Terms } from './algorithm.ts'
import { fixedWindowAlgorithm } from './fixed-window.ts'
import { tokenBucketAlgorithm } from './token-bucket.ts'

/** The greatest `limit` and `burst`. */
export const MAX_LIMIT = 2 ** 31 - 1

/** `limit` cost units per `periodMs`, `burst` at most at once. */
export interface TokenBucketPolicy {
  readonly algorithm: 'token-bucket'
  readonly limit: number
  readonly periodMs: number
  readonly burst: number
}

/** `limit` cost units in each window of `windowMs`. */
export interface FixedWindowPolicy {
  readonly algorithm: 'fixed-window'
  readonly limit: number
  readonly windowMs: number
}

/** Any policy that a tier can have. */
export type Policy = TokenBucketPolicy | FixedWindowPolicy

const algorithms: readonly Algorithm[] = [tokenBucketAlgorithm, fixedWindowAlgorithm]

/** The algorithm that bears `id` in the arena, or undefined. */
export function algorithmById(id: number): Algorithm | undefined {
  return algorithms.find((algorithm) => algorithm.id === id)
}

function whole(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_LIMIT) {
    throw outOfRange('ERR_HOTBUCKET_POLICY', field, value, `a whole number from 0 to ${MAX_LIMIT}`)
  }
  return value
}

function time(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw outOfRange('ERR_HOTBUCKET_POLICY', field, value, 'a finite number of milliseconds above 0')
  }
  return value
}

function fields(name: string, options: unknown): Record<string, unknown> {
  if (typeof options !== 'object' || options === null) {
    throw wrongType('ERR_HOTBUCKET_POLICY', `the argument of ${name}`, options, 'an object')
  }
  return options as Record<string, unknown>
}

/** Checks `policy`, whatever its origin, and puts it into its algorithm's units. Throws ERR_HOTBUCKET_POLICY. */
export function termsOf(policy: Policy, bornMs: number): Terms {
  const given = fields('a policy', policy)
  const algorithm = algorithms.find(({ name }) => name === given.algorithm)
  if (algorithm === undefined) {
    const names = algorithms.map(({ name }) => name).join(', ')
    throw outOfRange('ERR_HOTBUCKET_POLICY', 'algorithm', given.algorithm, `one of ${names}`)
  }
  const limit = whole('limit', given.limit)
  if (algorithm === tokenBucketAlgorithm) {
    const numbers = { limit, periodMs: time('periodMs', given.periodMs), burst: whole('burst', given.burst ?? limit) }
    return algorithm.terms(numbers, bornMs)
  }
  return algorithm.terms({ limit, periodMs: time('windowMs', given.windowMs), burst: limit }, bornMs)
}

/** The policy that `terms` came from. */
export function policyOf({ algorithm, limit, periodMs, burst }: Terms): Policy {
  return algorithm === tokenBucketAlgorithm
    ? Object.freeze({ algorithm: 'token-bucket', limit, periodMs, burst })
    : Object.freeze({ algorithm: 'fixed-window', limit, windowMs: periodMs })
}

/**
 * A token bucket: `limit` cost units per `periodMs` milliseconds, refilled continuously, `burst` at most at once
 * (`limit` by default). Limit 0 denies always.
 *
 * `limit` and `burst` are whole, 0 to 2^31 - 1; `periodMs` is finite and above 0; a policy that cannot be held
 * for a year without wear is refused. Throws `RangeError` ERR_HOTBUCKET_POLICY. Pure; safe anywhere.
 */
export function tokenBucket(options: { limit: number; periodMs: number; burst?: number }): TokenBucketPolicy {
  return policyOf(termsOf({ ...fields('tokenBucket', options), algorithm: 'token-bucket' } as Policy, 0)) as TokenBucketPolicy
}

/**
 * A fixed window: `limit` cost units in each window of `windowMs` milliseconds, windows beginning at multiples of
 * `windowMs` on the clock. Up to twice the limit may pass around an edge. Limit 0 denies always.
 *
 * Ranges and errors as for `tokenBucket`. Pure; safe anywhere.
 */
export function fixedWindow(options: { limit: number; windowMs: number }): FixedWindowPolicy {
  return policyOf(termsOf({ ...fields('fixedWindow', options), algorithm: 'fixed-window' } as Policy, 0)) as FixedWindowPolicy
}
