import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import { HotbucketStore } from 'hotbucket/fastify-rate-limit'
import { expect, onTestFinished, test } from 'vitest'
import { ask, statusesOf } from '../http/client.ts'
import { ok } from '../http/servers.mjs'
import { stores } from './servers.mjs'

const five = () => new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), clock: new SharedClock(60_000) })

async function serve(limiter: unknown, options: object = {}): Promise<string> {
  const { url, close } = await stores['@fastify/rate-limit']!([[limiter, options]], ok)
  onTestFinished(close)
  return url
}

test('counts, refuses and tells the wait in the limiter\'s own buckets', async () => {
  const limiter = five()
  const url = await serve(limiter, { key: () => 'one' })
  const replies = []
  for (let at = 0; at < 7; at++) replies.push(await ask(url))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
  expect(replies.map((reply) => reply.field('x-ratelimit-remaining'))).toEqual(['4', '3', '2', '1', '0', '0', '0'])
  expect(replies.map((reply) => reply.field('retry-after'))).toEqual([undefined, undefined, undefined, undefined, undefined, '60', '60'])
  expect(limiter.stats()).toMatchObject({ allowed: 5, denied: 2 })
})

test('tells the wait of a token bucket, not its period', async () => {
  const url = await serve(new RateLimiter({ policy: tokenBucket({ limit: 60, periodMs: 60_000, burst: 2 }), clock: new SharedClock() }))
  await statusesOf(url, 2)
  expect((await ask(url)).field('retry-after')).toBe('1')
})

test('numbers that are not the policy\'s are refused when the plugin is registered', async () => {
  for (const options of [{ max: 50 }, { timeWindow: 1000 }, { timeWindow: '2 minutes' }]) {
    await expect(serve(five(), options)).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_OPTION' })
  }
})

test('a max by request tightens, and never loosens', async () => {
  for (const [max, admitted] of [[2, 2], [50, 5]] as const) {
    const url = await serve(five(), { max: () => max })
    expect((await statusesOf(url, 9)).filter((status) => status === 200)).toHaveLength(admitted)
  }
})

test('a route may name a tier of its own', async () => {
  const tiers = { free: fixedWindow({ limit: 1, windowMs: 60_000 }), pro: fixedWindow({ limit: 3, windowMs: 60_000 }) }
  const limiter = new RateLimiter({ tiers, clock: new SharedClock() })
  const url = await serve(limiter, { store: HotbucketStore.of(limiter, { tier: 'free' }), routes: { '/pro': { tier: 'pro', max: 3 }, '/same': {} } })
  expect(await statusesOf(`${url}/pro`, 4)).toEqual([200, 200, 200, 429])
  expect([...(await statusesOf(url, 1)), ...(await statusesOf(`${url}/same`, 1))]).toEqual([200, 429])
})

test('a closed limiter is an error of the route, or passes where skipOnError is asked for', async () => {
  for (const [skipOnError, status] of [[false, 500], [true, 200]] as const) {
    const limiter = five()
    const url = await serve(limiter, { skipOnError })
    limiter.close()
    expect((await ask(url)).status).toBe(status)
  }
})

test('limit 0 refuses with the window for a wait', async () => {
  const url = await serve(new RateLimiter({ policy: fixedWindow({ limit: 0, windowMs: 60_000 }), clock: new SharedClock() }))
  expect((await ask(url)).field('retry-after')).toBe('60')
})

test('read adds nothing', () => {
  const store = new (HotbucketStore.of(five()))({ max: 5, timeWindow: 60_000 })
  const seen: unknown[] = []
  const note = (_: Error | null, hits?: { current: number }): void => { seen.push(hits?.current) }
  store.incr('one', note)
  store.read('one', note)
  store.read('two', note)
  store.incr('one', note)
  expect(seen).toEqual([1, 1, 0, 2])
})
