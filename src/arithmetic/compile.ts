/** Between policies as users write them and terms as algorithms use them. */
import { outOfRange, wrongType } from '../errors.ts'
import type { Algorithm, Terms } from './algorithm.ts'
import { MAX_TIME_MS } from './algorithm.ts'
import { anchoredWindowAlgorithm } from './anchored-window.ts'
import { fixedWindowAlgorithm } from './fixed-window.ts'
import type { Policy, SimplePolicy } from './policy.ts'
import { MAX_LIMIT, MAX_PARTS } from './policy.ts'
import { slidingWindowCounterAlgorithm } from './sliding-window-counter.ts'
import { slidingWindowLogAlgorithm } from './sliding-window-log.ts'
import { tokenBucketAlgorithm } from './token-bucket.ts'

const algorithms: readonly Algorithm[] = [
  tokenBucketAlgorithm,
  fixedWindowAlgorithm,
  slidingWindowCounterAlgorithm,
  anchoredWindowAlgorithm,
  slidingWindowLogAlgorithm,
]

const names = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log', 'all-of']

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
  if (typeof value !== 'number' || !(value > 0 && value <= MAX_TIME_MS)) {
    throw outOfRange('ERR_HOTBUCKET_POLICY', field, value, `a number of milliseconds above 0, up to ${MAX_TIME_MS}`)
  }
  return value
}

function simpleTerms(given: Record<string, unknown>, bornMs: number): Terms {
  if (!names.includes(given.algorithm as string) || given.algorithm === 'all-of') {
    throw outOfRange('ERR_HOTBUCKET_POLICY', 'algorithm', given.algorithm, `one of ${names.join(', ')}, and all-of only outermost`)
  }
  const limit = whole('limit', given.limit)
  if (given.algorithm === 'token-bucket') {
    const numbers = { limit, periodMs: time('periodMs', given.periodMs), burst: whole('burst', given.burst === undefined ? limit : given.burst) }
    return tokenBucketAlgorithm.terms(numbers, bornMs)
  }
  const numbers = { limit, periodMs: time('windowMs', given.windowMs), burst: limit }
  if (given.anchored !== undefined && (given.anchored !== 'first' || given.algorithm !== 'fixed-window')) {
    throw outOfRange('ERR_HOTBUCKET_POLICY', 'anchored', given.anchored, `'first' or left out, and for a fixed window only`)
  }
  const name = given.anchored === 'first' ? 'anchored-window' : given.algorithm
  return algorithms.find((algorithm) => algorithm.name === name)!.terms(numbers, bornMs)
}

/**
 * The terms of each part of `policy`, whatever its origin: one, or those of an `allOf` in their order.
 * Throws ERR_HOTBUCKET_POLICY.
 */
export function termsOf(policy: unknown, bornMs: number): Terms[] {
  if (typeof policy !== 'object' || policy === null) throw wrongType('ERR_HOTBUCKET_POLICY', 'a policy', policy, 'an object')
  const { algorithm, parts } = policy as { algorithm?: unknown; parts?: unknown }
  if (algorithm !== 'all-of') return [simpleTerms(policy as Record<string, unknown>, bornMs)]
  if (!Array.isArray(parts) || parts.length < 1 || parts.length > MAX_PARTS) {
    throw outOfRange('ERR_HOTBUCKET_POLICY', 'parts', parts, `1 to ${MAX_PARTS} policies`)
  }
  return parts.map((part: unknown) => {
    if (typeof part !== 'object' || part === null) throw wrongType('ERR_HOTBUCKET_POLICY', 'a part', part, 'a policy')
    return simpleTerms(part as Record<string, unknown>, bornMs)
  })
}

function simplePolicy({ algorithm, limit, periodMs, burst }: Terms): SimplePolicy {
  switch (algorithm) {
    case tokenBucketAlgorithm:
      return Object.freeze({ algorithm: 'token-bucket', limit, periodMs, burst })
    case fixedWindowAlgorithm:
      return Object.freeze({ algorithm: 'fixed-window', limit, windowMs: periodMs })
    case anchoredWindowAlgorithm:
      return Object.freeze({ algorithm: 'fixed-window', limit, windowMs: periodMs, anchored: 'first' })
    case slidingWindowCounterAlgorithm:
      return Object.freeze({ algorithm: 'sliding-window-counter', limit, windowMs: periodMs })
    default:
      return Object.freeze({ algorithm: 'sliding-window-log', limit, windowMs: periodMs })
  }
}

/** The policy that these terms came from. */
export function policyOf(terms: readonly Terms[]): Policy {
  const parts = terms.map(simplePolicy)
  return parts.length === 1 ? parts[0]! : Object.freeze({ algorithm: 'all-of', parts: Object.freeze(parts) })
}
