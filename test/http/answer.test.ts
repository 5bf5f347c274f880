import { fixedWindow, tokenBucket } from 'hotbucket'
import type { Decision } from 'hotbucket'
import { parseList } from 'structured-headers'
import { describe, expect, test } from 'vitest'
import { checkedDecision, faultAnswer, fieldsOf, refusalOf } from '../../src/http/answer.ts'

const decision = (over: Partial<Decision> = {}): Decision =>
  ({ allowed: true, tier: 'default', limit: 10, remaining: 9, retryAfterMs: 0, resetAfterMs: 6000, ...over })

const refused = (retryAfterMs: number, over: Partial<Decision> = {}): Decision =>
  decision({ allowed: false, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs, ...over })

/** One item of a List, parsed: its name and its parameters. */
function item(field: string | undefined): [unknown, Record<string, unknown>] {
  const list = parseList(field!) as [unknown, Map<string, unknown>][]
  expect(list).toHaveLength(1)
  const [name, parameters] = list[0]!
  return [name, Object.fromEntries(parameters)]
}

describe('RateLimit and RateLimit-Policy', () => {
  test('are Lists of Strings whose parameters are Integers', () => {
    const fields = fieldsOf(decision(), tokenBucket({ limit: 10, periodMs: 60_000 }), false)
    expect(item(fields.RateLimit)).toEqual(['default', { r: 9, t: 6 }])
    expect(item(fields['RateLimit-Policy'])).toEqual(['default', { q: 10, w: 60 }])
    expect(Object.keys(fields)).toHaveLength(2)
  })

  test.each(['__proto__', 'with "quotes" and \\', 'snow ☃', '\ud800 alone', ''])('carry the tier name %j', (tier) => {
    const [name] = item(fieldsOf(decision({ tier }), undefined, false).RateLimit)
    expect(name).toBe(/^[\x20-\x7e]*$/.test(tier) ? tier : encodeURIComponent(tier.toWellFormed()))
  })

  // https://github.com/ietf-wg-httpapi/ratelimit-headers/issues/141
  test.each([[1, 1], [999, 1], [1000, 1], [1400, 2], [60_000, 60]])('CF-04: a window of %i ms is w=%i, never 0', (windowMs, w) => {
    expect(item(fieldsOf(decision(), fixedWindow({ limit: 10, windowMs }), false)['RateLimit-Policy'])).toEqual(['default', { q: 10, w }])
  })

  test('leave out a window that is not known or not ahead', () => {
    const fields = fieldsOf(decision({ remaining: 10, resetAfterMs: 0 }), undefined, true)
    expect(item(fields.RateLimit)).toEqual(['default', { r: 10 }])
    expect(item(fields['RateLimit-Policy'])).toEqual(['default', { q: 10 }])
    expect(fields).not.toHaveProperty('X-RateLimit-Reset')
  })

  test('hold numbers of at most 15 digits', () => {
    const fields = fieldsOf(decision({ limit: 2 ** 53, remaining: 2 ** 53, resetAfterMs: 1e300 }), undefined, true)
    expect(item(fields.RateLimit)[1]).toMatchObject({ r: 999_999_999_999_999, t: 999_999_999_999_999 })
  })

  // https://github.com/express-rate-limit/express-rate-limit/pull/380
  test('CF-03: an infinite limit sends no field, and no NaN or Infinity anywhere', () => {
    expect(fieldsOf(decision({ limit: Infinity, remaining: Infinity }), undefined, true)).toEqual({})
  })

  // https://github.com/symfony/symfony/pull/63492
  test('RA-06: when the last token is taken, t is the wait of the next call', () => {
    const fields = fieldsOf(decision({ remaining: 0, retryAfterMs: 1000, resetAfterMs: 10_000 }), undefined, true)
    expect(item(fields.RateLimit)[1]).toMatchObject({ r: 0, t: 1 })
    expect(fields['X-RateLimit-Reset']).toBe('1')
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/173
  test('HH-05: remaining is a whole number', () => {
    expect(item(fieldsOf(decision({ remaining: 8.583 }), undefined, false).RateLimit)[1]).toMatchObject({ r: 8 })
  })
})

describe('a refusal', () => {
  test.each([
    // https://github.com/benwis/tower-governor/issues/65
    ['RA-01: 200 ms as 1 second', 200, '1'],
    // https://github.com/hashicorp/boundary/pull/4094
    ['RA-02: 1,400 ms as 2 seconds', 1400, '2'],
    ['1 ms as 1 second', 1, '1'],
    ['1,000 ms as 1 second', 1000, '1'],
    // https://github.com/koajs/ratelimit/issues/48
    ['RA-09: 30 days without truncation', 2_592_000_000, '2592000'],
  ])('tells %s', (_, retryAfterMs, seconds) => {
    const { status, fields, body } = refusalOf(refused(retryAfterMs), undefined, {})
    expect(status).toBe(429)
    expect(fields['Retry-After']).toBe(seconds)
    expect(JSON.parse(body)).toMatchObject({ status: 429, retryAfter: Number(seconds) })
    expect(body).toContain(`in ${seconds} second`)
  })

  test('is a problem of the registered type that names the violated tier', () => {
    const { fields, body } = refusalOf(refused(5000, { tier: 'free' }), undefined, {})
    expect(fields['Content-Type']).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too Many Requests',
      status: 429,
      detail: 'This request exceeds the rate limit. Try again in 5 seconds.',
      'violated-policies': ['free'],
      limit: 10,
      remaining: 0,
      retryAfter: 5,
    })
  })

  // https://github.com/golang/go/issues/39984
  test('CF-01: for ever tells no time, and no Infinity, NaN or null', () => {
    const answer = refusalOf(refused(Infinity), undefined, fieldsOf(refused(Infinity), undefined, true))
    expect(answer.fields).not.toHaveProperty('Retry-After')
    expect(JSON.parse(answer.body)).not.toHaveProperty('retryAfter')
    expect(JSON.stringify(answer)).not.toMatch(/Infinity|NaN|null/)
  })
})

test('a fault is a 503 that tells no time', () => {
  expect(faultAnswer.status).toBe(503)
  expect(faultAnswer.fields).not.toHaveProperty('Retry-After')
  expect(JSON.parse(faultAnswer.body)).toMatchObject({ status: 503 })
})

// https://github.com/express-rate-limit/express-rate-limit/issues/485
test.each([
  null, undefined, 'OK', [Number.NaN], {}, true, decision({ remaining: Number.NaN }), decision({ remaining: -1 }),
  { ...decision(), allowed: 'yes' }, { ...decision(), tier: undefined }, { ...decision(), retryAfterMs: undefined },
])('SF-04: %j is no Decision', (value) => {
  expect(() => checkedDecision(value)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
})
