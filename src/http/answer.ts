/**
 * A Decision as HTTP says it: status, header fields and body. Pure.
 *
 * The fields are those of draft-ietf-httpapi-ratelimit-headers-11, Lists of Strings with parameters (RFC 9651).
 */
import { wrongType } from '../errors.ts'
import type { Decision, Policy, SimplePolicy } from '../index.ts'

/** Header fields by name. */
export type Fields = Readonly<Record<string, string>>

/** A whole answer in the place of the handler's. */
export interface Answer {
  readonly status: number
  readonly fields: Fields
  /** The text of a JSON object. */
  readonly body: string
}

/** The fields that are Lists: a second limiter on the same route adds an item to them. */
export const listFields: ReadonlySet<string> = new Set(['RateLimit', 'RateLimit-Policy'])

/** The greatest Integer of a structured field. */
const MOST = 999_999_999_999_999

/** Whole seconds, up, at least 1; undefined for never and for a time that is not ahead. */
function secondsOf(ms: number): number | undefined {
  return ms > 0 && ms < Infinity ? Math.min(MOST, Math.ceil(ms / 1000)) : undefined
}

/** A tier's name as a String; what a String cannot hold is percent-encoded. */
function stringOf(name: string): string {
  const ascii = /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name.toWellFormed())
  return `"${ascii.replace(/["\\]/g, '\\$&')}"`
}

/**
 * The seconds that all fields of one answer tell: while nothing is left, and when refused, those until a call is
 * allowed; else those until the bucket is full.
 */
function windowOf({ allowed, remaining, retryAfterMs, resetAfterMs }: Decision): number | undefined {
  return secondsOf(allowed && remaining > 0 ? resetAfterMs : retryAfterMs)
}

/** One item of a List: the parameters that are known. */
function item(name: string, parameters: Readonly<Record<string, number | undefined>>): string {
  let text = stringOf(name)
  for (const key in parameters) if (parameters[key] !== undefined) text += `;${key}=${parameters[key]}`
  return text
}

function whole(count: number): number {
  return Math.min(MOST, Math.floor(count))
}

/** The limits of a policy, each with the name that its fields bear: the tier's, with the part's index in an `allOf`. */
function namedParts(tier: string, policy: Policy): readonly (readonly [string, SimplePolicy])[] {
  return policy.algorithm === 'all-of' ? policy.parts.map((part, at) => [`${tier}/${at}`, part]) : [[tier, policy]]
}

/** The name of the limit that a Decision tells of. */
function nameOf({ tier, limit, refusedBy }: Decision, policy: Policy | undefined): string {
  if (policy?.algorithm !== 'all-of') return tier
  return `${tier}/${refusedBy ?? Math.max(0, policy.parts.findIndex((part) => part.limit === limit))}`
}

function policyItem(name: string, policy: SimplePolicy): string {
  // Rounded up: a client that spreads the quota over the window then never exceeds the policy.
  return item(name, { q: whole(policy.limit), w: secondsOf('periodMs' in policy ? policy.periodMs : policy.windowMs) })
}

/** What every answer carries; empty where the limit is not a number that a field can hold. */
export function fieldsOf(decision: Decision, policy: Policy | undefined, legacy: boolean): Fields {
  const { tier, limit, remaining } = decision
  if (!Number.isFinite(limit) || !Number.isFinite(remaining)) return {}
  const [r, t] = [whole(remaining), windowOf(decision)]
  return {
    RateLimit: item(nameOf(decision, policy), { r, t }),
    'RateLimit-Policy':
      policy === undefined
        ? item(tier, { q: whole(limit) })
        : namedParts(tier, policy).map(([name, part]) => policyItem(name, part)).join(', '),
    ...(legacy && {
      'X-RateLimit-Limit': String(whole(limit)),
      'X-RateLimit-Remaining': String(r),
      ...(t !== undefined && { 'X-RateLimit-Reset': String(t) }),
    }),
  }
}

const problem = { 'Content-Type': 'application/problem+json; charset=utf-8', 'Cache-Control': 'no-store' }

/** 429 with a problem+json body (RFC 9457) that tells the same time as `Retry-After`; a refusal for ever has neither. */
export function refusalOf(decision: Decision, policy: Policy | undefined, fields: Fields): Answer {
  const seconds = secondsOf(decision.retryAfterMs)
  const when = seconds === undefined ? 'It cannot be allowed under this policy.' : `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`
  return {
    status: 429,
    fields: { ...fields, ...problem, ...(seconds !== undefined && { 'Retry-After': String(seconds) }) },
    body: JSON.stringify({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too Many Requests',
      status: 429,
      detail: `This request exceeds the rate limit. ${when}`,
      'violated-policies': [nameOf(decision, policy)],
      limit: decision.limit,
      remaining: decision.remaining,
      ...(seconds !== undefined && { retryAfter: seconds }),
    }),
  }
}

/** 503: the limit could not be checked, and the route fails closed. It says so, and tells no time, since none is known. */
export const faultAnswer: Answer = {
  status: 503,
  fields: problem,
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Service Unavailable',
    status: 503,
    detail: 'The rate limit of this request could not be checked.',
    decidedBy: 'fallback',
  }),
}

/** The value if it is a Decision; throws `TypeError` ERR_HOTBUCKET_OPTION for anything else a limiter might return. */
export function checkedDecision(value: unknown): Decision {
  const decision = value as Decision | null | undefined
  const sound =
    typeof decision === 'object' && decision !== null && typeof decision.allowed === 'boolean' && typeof decision.tier === 'string' &&
    [decision.limit, decision.remaining, decision.retryAfterMs, decision.resetAfterMs].every((each) => typeof each === 'number' && each >= 0)
  if (!sound) throw wrongType('ERR_HOTBUCKET_OPTION', `the limiter's answer`, value, 'a Decision')
  return decision
}
