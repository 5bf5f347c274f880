/** Policies as users write them: plain frozen data that survives a structured clone. */
/** The greatest `limit` and `burst`. */
export const MAX_LIMIT = 2 ** 31 - 1
/** The most parts of an `allOf`. */
export const MAX_PARTS = 8

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
  /** Present where windows open at a key's first request rather than at multiples of `windowMs` on the clock. */
  readonly anchored?: 'first'
}

/** `limit` cost units in about any `windowMs`, by two counts. */
export interface SlidingWindowCounterPolicy {
  readonly algorithm: 'sliding-window-counter'
  readonly limit: number
  readonly windowMs: number
}

/** `limit` cost units in any `windowMs`, by their times. */
export interface SlidingWindowLogPolicy {
  readonly algorithm: 'sliding-window-log'
  readonly limit: number
  readonly windowMs: number
}

/** A policy with one limit. */
export type SimplePolicy = TokenBucketPolicy | FixedWindowPolicy | SlidingWindowCounterPolicy | SlidingWindowLogPolicy

/** Several limits on one key: every part is charged, or none. */
export interface AllOfPolicy {
  readonly algorithm: 'all-of'
  readonly parts: readonly SimplePolicy[]
}

/** Any policy that a tier can have. */
export type Policy = SimplePolicy | AllOfPolicy
