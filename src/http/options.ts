/** What all adapters take. */
import { outOfRange, wrongType } from '../errors.ts'
import type { Decision, Policy } from '../index.ts'
import type { AddressOptions } from './address.ts'

/** As much of a limiter as an adapter needs: a `RateLimiter`, one of its tiers, or anything that answers with Decisions. */
export interface Limiter {
  consume(key: string, cost?: number): Decision
  /** Gives back what an allowed call spent. */
  refund?(key: string, cost?: number): unknown
  tier?(name: string): Limiter
  /** Where the periods in `RateLimit-Policy` come from. */
  readonly handle?: { readonly tiers: Readonly<Record<string, Policy>> }
}

/**
 * Options of all adapters; `C` is the request as the framework hands it over. A request is decided at once: a function
 * that returns a promise is an error (see `onError`), so find out what it must know before, in a middleware or hook.
 */
export interface GateOptions<C> extends AddressOptions {
  /** Whose budget a request spends; the client's address by default. One that throws or returns nothing is an error: see `onError`. */
  readonly key?: (request: C) => string | null | undefined
  /** Units a request spends; 1 by default. */
  readonly cost?: number | ((request: C) => number)
  /** The tier to ask; without it the limiter's `tierOf` decides. */
  readonly tier?: string | ((request: C) => string)
  /** Requests that are not limited, and that bear no fields. */
  readonly skip?: (request: C) => boolean
  /** Also send `X-RateLimit-Limit`, `-Remaining` and `-Reset`, the last in seconds from now; false by default. */
  readonly legacyHeaders?: boolean
  /**
   * What a request gets when the limit cannot be checked, as when the key function throws: 503 by `'deny'`, the
   * default, or free passage by `'allow'`.
   */
  readonly onError?: 'allow' | 'deny'
  /** Told of each such error, and of a refund that failed. By default the first of each kind is a process warning. */
  readonly log?: (error: unknown) => void
  /**
   * Give the cost back once the response is sent whole: on `'success'` with a status below 400, on `'failure'` with
   * one from 400. Refusals spend nothing and return nothing; a response that the client broke off keeps its charge,
   * or breaking off would be a way not to pay.
   */
  readonly refund?: 'success' | 'failure'
}

function oneOf(field: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return
  throw outOfRange('ERR_HOTBUCKET_OPTION', field, value, choices.map((each) => `'${each}'`).join(' or '))
}

function kind(field: string, value: unknown, kinds: readonly string[]): void {
  if (value === undefined || kinds.includes(typeof value)) return
  throw wrongType('ERR_HOTBUCKET_OPTION', field, value, `a ${kinds.join(' or a ')}`)
}

/** Throws ERR_HOTBUCKET_OPTION, or ERR_HOTBUCKET_TIER for a fixed tier that the limiter has not. */
export function checkOptions<C>(limiter: Limiter, options: GateOptions<C>): void {
  if (typeof limiter?.consume !== 'function') throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a RateLimiter')
  kind('key', options.key, ['function'])
  kind('cost', options.cost, ['number', 'function'])
  kind('tier', options.tier, ['string', 'function'])
  kind('skip', options.skip, ['function'])
  kind('legacyHeaders', options.legacyHeaders, ['boolean'])
  kind('log', options.log, ['function'])
  oneOf('onError', options.onError, ['allow', 'deny'])
  oneOf('refund', options.refund, ['success', 'failure'])
  if (typeof options.cost === 'number' && !(Number.isSafeInteger(options.cost) && options.cost >= 0)) {
    throw outOfRange('ERR_HOTBUCKET_COST', 'cost', options.cost, 'a whole number from 0')
  }
  if (options.tier !== undefined && typeof limiter.tier !== 'function') {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a limiter with tiers, where tier is given')
  }
  if (typeof options.tier === 'string') limiter.tier!(options.tier)
  if (options.refund !== undefined && typeof limiter.refund !== 'function') {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a limiter with refund(), where refund is given')
  }
}
