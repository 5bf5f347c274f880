import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import { clientAddress, joinKey } from 'hotbucket/http'
import { describe, expect, test } from 'vitest'
import { behind, one } from './behind.ts'
import { admitted, ask, statusesOf } from './client.ts'
import { adapterNames } from './servers.mjs'

const five = (): RateLimiter => new RateLimiter({ policy: tokenBucket({ limit: 5, periodMs: 3_600_000 }), clock: new SharedClock() })
const forwardedFor = (address: string | string[]) => ({ 'X-Forwarded-For': address })

describe.each(adapterNames)('behind %s', (adapter) => {
  // One code reads addresses behind all of them: once with as many as were reported.
  const many = adapter === adapterNames[0] ? 1000 : 50
  // https://github.com/express-rate-limit/express-rate-limit/issues/502
  test(`HI-01: ${many} addresses of one /64 are admitted 5 times in all and take one slot; the next network has its own budget`, async () => {
    const limiter = five()
    const url = await behind(adapter, [[limiter, { proxies: 1 }]])
    const inside = Array.from({ length: many }, (_, at) => ask(url, forwardedFor(`2001:db8:1:1::${(at + 1).toString(16)}`)))
    expect(admitted((await Promise.all(inside)).map(({ status }) => status))).toBe(5)
    expect((await ask(url, forwardedFor('2001:db8:2:1::1'))).status).toBe(200)
    for (const spelling of ['2001:DB8:1:1::1', '2001:0db8:0001:0001:0000:0000:0000:0001', '2001:db8:1:1::1%eth0', '[2001:db8:1:1::1]:80']) {
      expect((await ask(url, forwardedFor(spelling))).status).toBe(429)
    }
    expect(limiter.stats().keys).toBe(2)
  })

  test('HI-01: the prefix can be set', async () => {
    const url = await behind(adapter, [[five(), { proxies: 1, ipv6Prefix: 56 }]])
    expect(admitted(await statusesOf(url, 20, (at) => forwardedFor(`2001:db8:1:${at.toString(16)}::1`)))).toBe(5)
  })

  // https://github.com/brendanlong/lion-reader/issues/983
  test('HI-03: behind no proxy a forged X-Forwarded-For or Forwarded gets no fresh budget', async () => {
    const url = await behind(adapter, [[five()]])
    const forged = (at: number) => ({ 'X-Forwarded-For': `203.0.113.${at}`, Forwarded: `for=203.0.113.${at}` })
    expect(admitted(await statusesOf(url, 20, forged))).toBe(5)
  })

  test.each([
    ['with a proxy that appends', (at: number) => `198.51.100.${at}, 203.0.113.9`],
    ['in two header lines', (at: number) => [`198.51.100.${at}`, '203.0.113.9']],
    ['with an IPv6 address and port', (at: number) => `198.51.100.${at}, [2001:db8::${at + 1}]:${1024 + at}`],
    ['of nonsense', (at: number) => `198.51.100.${at}, ${'\t"%[]'.repeat(at)}`],
  ])('HI-03: behind one proxy, X-Forwarded-For %s admits 5', async (_, header) => {
    const url = await behind(adapter, [[five(), { proxies: 1 }]])
    expect(admitted(await statusesOf(url, 20, (at) => forwardedFor(header(at))))).toBe(5)
  })

  test('HI-03: a forged entry does not burn its owner\'s budget', async () => {
    const url = await behind(adapter, [[five(), { proxies: 1 }]])
    await statusesOf(url, 20, () => forwardedFor('203.0.113.1, 198.51.100.6'))
    expect((await ask(url, forwardedFor('203.0.113.1'))).status).toBe(200)
  })

  test('the default key is the socket\'s address', async () => {
    const limiter = five()
    const url = await behind(adapter, [[limiter]])
    expect(admitted(await statusesOf(url, 6))).toBe(5)
    expect(limiter.peek('127.0.0.1').remaining).toBe(0)
  })

  // https://github.com/jaredwray/cacheable/issues/1612
  test('KY-01: names of Object.prototype are ordinary keys and tiers', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']
    const limiter = new RateLimiter({ policy: fixedWindow({ limit: 2, windowMs: 60_000 }), clock: new SharedClock() })
    const url = await behind(adapter, [[limiter, { key: (request: { url?: string; req?: { path: string } }) => (request.req?.path ?? request.url ?? '').slice(1) }]])
    for (const name of names) expect(await statusesOf(`${url}/${name}`, 3)).toEqual([200, 200, 429])
    const strict = await one(adapter, limiter, { tier: () => 'constructor', log: () => {} })
    expect((await ask(strict)).status).toBe(503)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

test('KY-02: a user named 127.0.0.1 and the client 127.0.0.1 have a budget each', async () => {
  const url = await behind('express', [[five(), {
    key: (request: { headers: Record<string, string>; socket: { remoteAddress: string } }) =>
      request.headers.user === undefined ? joinKey('address', clientAddress(request)!) : joinKey('user', request.headers.user),
  }]])
  expect(admitted(await statusesOf(url, 6))).toBe(5)
  expect((await ask(url, { user: '127.0.0.1' })).status).toBe(200)
})

test('a tier can be chosen by the request', async () => {
  const tiers = { free: fixedWindow({ limit: 1, windowMs: 60_000 }), pro: fixedWindow({ limit: 3, windowMs: 60_000 }) }
  const limiter = new RateLimiter({ tiers, clock: new SharedClock() })
  const url = await one('express', limiter, { tier: (request: { headers: { plan?: string } }) => request.headers.plan ?? 'free' })
  expect(await statusesOf(url, 2)).toEqual([200, 429])
  expect(await statusesOf(url, 4, () => ({ plan: 'pro' }))).toEqual([200, 200, 200, 429])
})

test('skipped requests spend nothing and bear no fields', async () => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, windowMs: 60_000 }), clock: new SharedClock() })
  const url = await one('express', limiter, { skip: (request: { url: string }) => request.url === '/health' })
  const reply = await ask(`${url}/health`)
  expect([reply.status, reply.lines('RateLimit')]).toEqual([200, []])
  expect(await statusesOf(url, 2)).toEqual([200, 429])
})

test('a cost function charges by the request', async () => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 10, windowMs: 60_000 }), clock: new SharedClock() })
  const url = await one('express', limiter, { cost: (request: { url: string }) => (request.url === '/search' ? 4 : 1) })
  expect(await statusesOf(`${url}/search`, 3)).toEqual([200, 200, 429])
  expect(await statusesOf(url, 3)).toEqual([200, 200, 429])
})
