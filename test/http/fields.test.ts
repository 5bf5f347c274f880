import { allOf, fixedWindow, RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import { parseList } from 'structured-headers'
import { describe, expect, test } from 'vitest'
import { behind, one } from './behind.ts'
import type { Reply } from './client.ts'
import { admitted, ask, statusesOf } from './client.ts'
import { adapterNames } from './servers.mjs'

/** Parameters of the items of a List field, by the items' names. */
function items(reply: Reply, name: string): Record<string, Record<string, unknown>> {
  const list = parseList(reply.lines(name).join(', ')) as [string, Map<string, unknown>][]
  return Object.fromEntries(list.map(([item, parameters]) => [item, Object.fromEntries(parameters)]))
}

function seconds(reply: Reply): unknown {
  return items(reply, 'RateLimit').default!.t
}

describe.each(adapterNames)('behind %s', (adapter) => {
  // https://github.com/fastify/fastify-rate-limit/issues/301
  test('HH-01: the sixth of 5 a minute, 5 s into the window, is told 55 seconds by every field', async () => {
    const clock = new SharedClock(60_000)
    const url = await one(adapter, new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), clock }), { legacyHeaders: true })
    const replies: Reply[] = []
    for (let at = 0; at < 6; at++, clock.advance(1000)) replies.push(await ask(url))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    expect(replies.map(seconds)).toEqual([60, 59, 58, 57, 56, 55])
    expect(replies.map((reply) => items(reply, 'RateLimit').default!.r)).toEqual([4, 3, 2, 1, 0, 0])
    expect(replies.map((reply) => items(reply, 'RateLimit-Policy').default)).toEqual(replies.map(() => ({ q: 5, w: 60 })))
    expect(replies.map((reply) => reply.field('X-RateLimit-Reset'))).toEqual(['60', '59', '58', '57', '56', '55'])
    expect(replies.map((reply) => reply.field('X-RateLimit-Remaining'))).toEqual(['4', '3', '2', '1', '0', '0'])
    expect(replies.map((reply) => reply.field('X-RateLimit-Limit'))).toEqual(replies.map(() => '5'))
    expect(replies.map((reply) => reply.field('Retry-After'))).toEqual([undefined, undefined, undefined, undefined, undefined, '55'])
  })

  test('X-RateLimit fields are sent on request alone', async () => {
    const url = await one(adapter, new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), clock: new SharedClock() }))
    expect((await ask(url)).lines('X-RateLimit-Limit')).toEqual([])
  })

  // https://github.com/SpaceTradersAPI/api-docs/issues/24
  test.each([[1, '1'], [493, '1'], [1000, '1'], [2_592_000_000, '2592000']])(
    'HH-02: Retry-After of 1 per %i ms is absent from a 200 and %s, once, on a 429', async (periodMs, retryAfter) => {
      const url = await one(adapter, new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs }), clock: new SharedClock() }))
      const [allowed, denied] = [await ask(url), await ask(url)]
      expect([allowed.status, allowed.lines('Retry-After')]).toEqual([200, []])
      expect([denied.status, denied.lines('Retry-After')]).toEqual([429, [retryAfter]])
    })

  test('HH-02: two stacked limiters send one Retry-After, that of the refusal, and an item each', async () => {
    const clock = new SharedClock()
    const outer = new RateLimiter({ tiers: { outer: tokenBucket({ limit: 10, periodMs: 60_000 }) }, clock })
    const inner = new RateLimiter({ tiers: { inner: tokenBucket({ limit: 1, periodMs: 5000 }) }, clock })
    const options = { key: () => 'one', legacyHeaders: true }
    const url = await behind(adapter, [[outer, options], [inner, options]])
    const [allowed, denied] = [await ask(url), await ask(url)]
    expect([allowed.status, denied.status]).toEqual([200, 429])
    expect(items(allowed, 'RateLimit')).toEqual({ outer: { r: 9, t: 6 }, inner: { r: 0, t: 5 } })
    expect(items(denied, 'RateLimit')).toEqual({ outer: { r: 8, t: 12 }, inner: { r: 0, t: 5 } })
    expect(Object.keys(items(denied, 'RateLimit-Policy')).sort()).toEqual(['inner', 'outer'])
    expect(denied.lines('Retry-After')).toEqual(['5'])
    expect(denied.lines('X-RateLimit-Limit')).toEqual(['1'])
    expect(JSON.parse(denied.body)).toMatchObject({ retryAfter: 5, 'violated-policies': ['inner'] })
  })

  // https://github.com/fastify/fastify-rate-limit/pull/394
  test('HH-06: message, JSON and header all say 5 seconds at 45 s of 50 s', async () => {
    const clock = new SharedClock()
    const url = await one(adapter, new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 50_000 }), clock }))
    await ask(url)
    clock.advance(45_000)
    const denied = await ask(url)
    expect(denied.field('Content-Type')).toMatch(/^application\/problem\+json/)
    expect(denied.field('Retry-After')).toBe('5')
    expect(seconds(denied)).toBe(5)
    const { detail, retryAfter } = JSON.parse(denied.body) as { detail: string; retryAfter: number }
    expect([retryAfter, /(\d+) seconds/.exec(detail)?.[1]]).toEqual([5, '5'])
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/173
  test('HH-05: remaining is 8 at a level of 8.583, and 0 during a flood', async () => {
    const clock = new SharedClock()
    const url = await one(adapter, new RateLimiter({ policy: tokenBucket({ limit: 10, periodMs: 60_000 }), clock }))
    await ask(url)
    clock.advance(3500)
    expect(items(await ask(url), 'RateLimit').default).toMatchObject({ r: 8 })
    for (let at = 0; at < 50; at++) {
      const reply = await ask(url)
      expect([reply.status, items(reply, 'RateLimit').default!.r]).toEqual(at < 8 ? [200, 7 - at] : [429, 0])
    }
  })

  // https://github.com/benwis/tower-governor/issues/65
  test('RA-01: a wait of 200 ms is never told as 0 seconds', async () => {
    const url = await one(adapter, new RateLimiter({ policy: tokenBucket({ limit: 5, periodMs: 1000, burst: 1 }), clock: new SharedClock() }))
    await ask(url)
    const denied = await ask(url)
    expect([denied.status, denied.field('Retry-After'), seconds(denied)]).toEqual([429, '1', 1])
    expect(denied.body).not.toMatch(/\b0 sec/)
  })

  // https://github.com/hashicorp/boundary/pull/4094
  test('RA-02: an obedient client of 1 per 1,400 ms is told 2 and admitted after 2', async () => {
    const clock = new SharedClock()
    const url = await one(adapter, new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1400 }), clock }))
    expect((await ask(url)).status).toBe(200)
    expect((await ask(url)).field('Retry-After')).toBe('2')
    clock.set(1000)
    expect((await ask(url)).status).toBe(429)
    clock.set(2000)
    expect((await ask(url)).status).toBe(200)
  })

  // https://github.com/express-rate-limit/express-rate-limit/pull/380
  test('CF-03: limit 0 blocks all, for ever, and sends no time', async () => {
    const url = await one(adapter, new RateLimiter({ policy: fixedWindow({ limit: 0, windowMs: 60_000 }), clock: new SharedClock() }), { legacyHeaders: true })
    for (let at = 0; at < 3; at++) {
      const denied = await ask(url)
      expect(denied.status).toBe(429)
      expect(denied.lines('Retry-After')).toEqual([])
      expect(items(denied, 'RateLimit')).toEqual({ default: { r: 0 } })
      expect(denied.body).not.toMatch(/NaN|Infinity|null/)
    }
  })

  // https://github.com/pubky/pubky-homeserver/pull/548, https://github.com/ravangen/graphql-rate-limit/issues/129
  test('RA-07, OA-06: of several limits the longest wait is told, and a refusal charges none', async () => {
    const clock = new SharedClock(60_000)
    const policy = allOf(fixedWindow({ limit: 1, windowMs: 1000 }), fixedWindow({ limit: 1, windowMs: 60_000 }), fixedWindow({ limit: 9, windowMs: 1000 }))
    const limiter = new RateLimiter({ policy, clock })
    const url = await one(adapter, limiter)
    const allowed = await ask(url)
    clock.advance(500)
    const before = limiter.peek('one')
    const denied = await ask(url)
    expect([allowed.status, denied.status, denied.field('Retry-After')]).toEqual([200, 429, '60'])
    expect(items(denied, 'RateLimit')).toEqual({ 'default/1': { r: 0, t: 60 } })
    expect(items(denied, 'RateLimit-Policy')).toEqual({ 'default/0': { q: 1, w: 1 }, 'default/1': { q: 1, w: 60 }, 'default/2': { q: 9, w: 1 } })
    expect(items(allowed, 'RateLimit-Policy')).toEqual(items(denied, 'RateLimit-Policy'))
    expect(JSON.parse(denied.body)).toMatchObject({ 'violated-policies': ['default/1'], retryAfter: 60 })
    expect(limiter.peek('one')).toEqual(before)
  })

  test('OA-06: 2 a second and 5 a minute admit 2, 2, 1, 0 of ten in each second', async () => {
    const clock = new SharedClock(60_000)
    const policy = allOf(fixedWindow({ limit: 2, windowMs: 1000 }), fixedWindow({ limit: 5, windowMs: 60_000 }))
    const url = await one(adapter, new RateLimiter({ policy, clock }))
    const seen: number[] = []
    for (let second = 0; second < 4; second++, clock.advance(1000)) seen.push(admitted(await statusesOf(url, 10)))
    expect(seen).toEqual([2, 2, 1, 0])
  })

  test('a policy that is changed at run time is told at the next answer', async () => {
    const limiter = new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), clock: new SharedClock(120_000) })
    const url = await one(adapter, limiter)
    await ask(url)
    limiter.setPolicy('default', fixedWindow({ limit: 10, windowMs: 120_000 }))
    expect(items(await ask(url), 'RateLimit-Policy')).toEqual({ default: { q: 10, w: 120 } })
  })

  test('a HEAD request is refused without a body', async () => {
    const url = await one(adapter, new RateLimiter({ policy: fixedWindow({ limit: 0, windowMs: 60_000 }), clock: new SharedClock() }))
    const denied = await ask(url, {}, undefined, 'HEAD')
    expect([denied.status, denied.body]).toEqual([429, ''])
  })
})
