import express from 'express'
import { rateLimit } from 'express-rate-limit'
import type { Options } from 'express-rate-limit'
import { allOf, fixedWindow, RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import type { Policy } from 'hotbucket'
import { HotbucketStore } from 'hotbucket/express-rate-limit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, statusesOf } from '../http/client.ts'
import { ok } from '../http/servers.mjs'
import { Budget } from '../http/budget.ts'
import { stores } from './servers.mjs'

const limiterOf = (policy: Policy): RateLimiter => new RateLimiter({ policy, clock: new SharedClock(60_000) })
const five = () => limiterOf(fixedWindow({ limit: 5, windowMs: 60_000 }))

/** A logger that keeps what the middleware's own validations complain of. */
function listener() {
  const complaints: unknown[] = []
  const note = (complaint: unknown): void => { complaints.push(complaint) }
  return { complaints, logger: { error: note, warn: note } }
}

async function serve(limiter: unknown, options: object = {}, handler: unknown = ok): Promise<string> {
  const { url, close } = await stores['express-rate-limit']!([[limiter, options]], handler)
  onTestFinished(close)
  return url
}

describe('the store behind express-rate-limit', () => {
  test.each(['draft-6', 'draft-7', 'draft-8'] as const)('passes all its validations (%s)', async (standardHeaders) => {
    const { complaints, logger } = listener()
    const url = await serve(five(), { logger, standardHeaders, validate: true })
    expect(await statusesOf(url, 7)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(complaints).toEqual([])
  })

  test('the same check catches a store that counts from 0', async () => {
    const { complaints, logger } = listener()
    const store = { increment: () => ({ totalHits: 0, resetTime: new Date() }), decrement: () => {}, resetKey: () => {} }
    await statusesOf(await serve(five(), { logger, store }), 1)
    expect(complaints).toEqual([expect.objectContaining({ code: 'ERR_ERL_INVALID_HITS' })])
  })

  test('tells the wait of a fixed window and of a token bucket', async () => {
    for (const [policy, wait] of [[fixedWindow({ limit: 2, windowMs: 60_000 }), 60], [tokenBucket({ limit: 60, periodMs: 60_000, burst: 2 }), 1]] as const) {
      const url = await serve(limiterOf(policy))
      expect(await statusesOf(url, 2)).toEqual([200, 200])
      const denied = await ask(url)
      expect([denied.status, denied.field('Retry-After')]).toEqual([429, String(wait)])
    }
  })

  test('counts in the limiter\'s own buckets', async () => {
    const limiter = five()
    const url = await serve(limiter, { key: () => 'one' })
    await statusesOf(url, 3)
    expect(limiter.peek('one').remaining).toBe(2)
    expect([limiter.allow('one', 2), (await ask(url)).status]).toEqual([true, 429])
  })

  test('numbers that are not the policy\'s fail every request, and are complained of', async () => {
    for (const options of [{ limit: 50 }, { windowMs: 1000 }]) {
      const { complaints, logger } = listener()
      const limiter = five()
      const url = await serve(limiter, { logger, ...options, passOnStoreError: false })
      expect(await statusesOf(url, 2)).toEqual([500, 500])
      expect(complaints[0]).toMatchObject({ code: 'ERR_HOTBUCKET_OPTION' })
      expect(limiter.stats().allowed).toBe(0)
    }
  })

  test('a limit by request tightens, and never loosens', async () => {
    for (const [limit, admitted] of [[2, 2], [50, 5]] as const) {
      const url = await serve(five(), { limit: () => limit })
      expect((await statusesOf(url, 9)).filter((status) => status === 200)).toHaveLength(admitted)
    }
  })

  test('a closed limiter is the middleware\'s store error', async () => {
    const limiter = five()
    const url = await serve(limiter)
    limiter.close()
    expect(await statusesOf(url, 2)).toEqual([500, 500])
  })

  test('HR-01: skipFailedRequests gives a 500 back once', async () => {
    const limiter = new Budget(2)
    const url = await serve(limiter, { skipFailedRequests: true }, (path: string) => ({ status: path === '/fail' ? 500 : 200, body: '' }))
    expect((await ask(`${url}/fail`)).status).toBe(500)
    expect(await statusesOf(url, 3)).toEqual([200, 200, 429])
    expect(limiter.refunds).toHaveLength(1)
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/333
  test('RF-05: skipFailedRequests gives nothing back for the 429 itself', async () => {
    const limiter = new Budget(2)
    const url = await serve(limiter, { skipFailedRequests: true })
    expect(await statusesOf(url, 10)).toEqual([200, 200, ...new Array<number>(8).fill(429)])
    expect(limiter.refunds).toEqual([])
  })

  test('skipSuccessfulRequests gives a 200 back, and a 429 nothing', async () => {
    const limiter = new Budget(1)
    const url = await serve(limiter, { skipSuccessfulRequests: true }, (path: string) => ({ status: path === '/fail' ? 500 : 200, body: '' }))
    expect(await statusesOf(url, 3)).toEqual([200, 200, 200])
    expect(await statusesOf(`${url}/fail`, 3)).toEqual([500, 429, 429])
    expect(limiter.refunds).toHaveLength(3)
  })

  test('two of them on one route need a prefix each, and then pass the validations', async () => {
    const { complaints, logger } = listener()
    const app = express()
    for (const prefix of ['a:', 'b:']) {
      const options: Partial<Options> = { windowMs: 60_000, limit: 5, logger, store: new HotbucketStore({ limiter: five(), prefix }) }
      app.use(rateLimit(options))
    }
    app.use((_, response) => { response.end('ok') })
    const server = app.listen(0, '127.0.0.1')
    onTestFinished(() => { server.closeAllConnections(); server.close() })
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    expect(await statusesOf(url, 6)).toEqual([200, 200, 200, 200, 200, 429])
    expect(complaints).toEqual([])
  })
})

describe('the store by itself', () => {
  test('get reads and adds nothing', () => {
    const store = new HotbucketStore(five())
    store.increment('one')
    expect([store.get('one').totalHits, store.get('one').totalHits, store.get('two').totalHits]).toEqual([1, 1, 0])
  })

  test('resetKey makes a key fresh', () => {
    const store = new HotbucketStore(five())
    for (let at = 0; at < 7; at++) store.increment('one')
    store.resetKey('one')
    expect([store.increment('one').totalHits, store.increment('two').totalHits]).toEqual([1, 1])
  })

  test('an allOf is refused: the middleware knows one limit', () => {
    const limiter = limiterOf(allOf(fixedWindow({ limit: 2, windowMs: 1000 }), fixedWindow({ limit: 5, windowMs: 60_000 })))
    expect(() => new HotbucketStore(limiter)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
  })

  test('limit 0 refuses for ever and tells no time', () => {
    const store = new HotbucketStore({ limiter: limiterOf(fixedWindow({ limit: 0, windowMs: 60_000 })) })
    expect(store.increment('one').resetTime).toBeUndefined()
  })

  test('a tier must be named where there are several', () => {
    const tiers = { free: fixedWindow({ limit: 1, windowMs: 60_000 }), pro: fixedWindow({ limit: 2, windowMs: 60_000 }) }
    const limiter = new RateLimiter({ tiers, clock: new SharedClock() })
    expect(() => new HotbucketStore({ limiter })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
    expect(() => new HotbucketStore({ limiter, tier: 'gold' })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_TIER' }))
    const store = new HotbucketStore({ limiter, tier: 'pro' })
    expect([1, 2, 3].map(() => store.increment('one').totalHits > 2)).toEqual([false, false, true])
  })

  test.each([null, {}, { limiter: {} }, { limiter: five(), prefix: 1 }])('G13: %j is refused', (options) => {
    expect(() => new HotbucketStore(options as never)).toThrow(TypeError)
  })
})
