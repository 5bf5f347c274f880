import { EventEmitter } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fastify from 'fastify'
import { Hono } from 'hono'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import hotbucket from 'hotbucket/fastify'
import { rateLimit as honoLimit } from 'hotbucket/hono'
import { rateLimit } from 'hotbucket/http'
import type { NodeResponse } from 'hotbucket/http'
import { RefusedKeys } from 'hotbucket/metrics'
import { expect, test } from 'vitest'
import { behind, one } from './behind.ts'
import { ask, statusesOf } from './client.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** How many are left, once so many turns have given the collector its chance. */
async function survivors(left: readonly WeakRef<RateLimiter>[], turns: number): Promise<number> {
  let alive = left.length
  // A WeakRef holds its target until the turn ends, and frameworks close in several.
  for (let turn = 0; turn < turns && alive >= 5; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    alive = left.filter((each) => each.deref() !== undefined).length
  }
  return alive
}

const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

const fresh = (): RateLimiter => new RateLimiter({ policy: fixedWindow({ limit: 1, windowMs: 60_000 }), maxKeys: 100, clock: new SharedClock() })

/** One request through each kind of adapter, without sockets. */
const uses: Record<string, (limiter: RateLimiter) => Promise<void>> = {
  async 'node:http'(limiter) {
    const response = Object.assign(new EventEmitter(), { headersSent: false, getHeader: () => undefined, setHeader: () => response, end: () => response })
    await rateLimit(limiter, { key: () => 'one' })({ headers: {}, socket: {} } as never, response as unknown as NodeResponse)
  },
  async hono(limiter) {
    const app = new Hono()
    app.use(honoLimit(limiter, { key: () => 'one' }))
    app.get('/', (context) => context.text('ok'))
    expect((await app.request('/')).status).toBe(200)
  },
  async fastify(limiter) {
    const app = fastify()
    app.register(hotbucket, { limiter, key: () => 'one' })
    app.get('/', () => 'ok')
    expect((await app.inject('/')).statusCode).toBe(200)
    await app.close()
  },
}

// https://github.com/dotnet/aspnetcore/issues/69061
test.each([['node:http', 1000], ['hono', 1000], ['fastify', 100]] as const)('LK-05: behind %s, %i limiters made, used and closed leave nothing behind', async (adapter, cycles) => {
  const before = timers()
  const left: WeakRef<RateLimiter>[] = []
  for (let at = 0; at < cycles; at++) {
    const limiter = fresh()
    await uses[adapter]!(limiter)
    limiter.close()
    limiter.close()
    left.push(new WeakRef(limiter))
  }
  expect(await survivors(left, 50)).toBeLessThan(5)
  // The test runner has a timer or two of its own.
  expect(timers() - before).toBeLessThan(5)
})

test('LK-05: the same check catches limiters that are kept', async () => {
  const kept: RateLimiter[] = []
  const left: WeakRef<RateLimiter>[] = []
  for (let at = 0; at < 100; at++) {
    kept.push(fresh())
    left.push(new WeakRef(kept[at]!))
  }
  expect(await survivors(left, 5)).toBe(kept.length)
})

// https://github.com/ralksta/immich-folio/pull/94
test('EV-02: flooding a route with new clients does not give a drained one its budget back', async () => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), maxKeys: 100, clock: new SharedClock() })
  const url = await behind('node:http', [[limiter, { proxies: 1 }]])
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  expect(await statusesOf(url, 6, () => from('203.0.113.1'))).toEqual([200, 200, 200, 200, 200, 429])
  const flood = await Promise.all(Array.from({ length: 500 }, (_, at) => ask(url, from(`10.0.${at >> 8}.${at & 255}`))))
  expect(flood.some(({ status }) => status === 429)).toBe(true)
  expect((await ask(url, from('203.0.113.1'))).status).toBe(429)
  expect(limiter.stats().tableFull).toBeGreaterThan(0)
})

test('a watched limiter serves an adapter, and its refusals are counted', async () => {
  const refused = new RefusedKeys()
  const url = await one('express', refused.watch(fresh()))
  expect(await statusesOf(url, 3)).toEqual([200, 429, 429])
  expect((await ask(url)).field('RateLimit-Policy')).toBe('"default";q=1;w=60')
  expect(refused.top()).toEqual([{ key: 'one', count: 3, error: 0 }])
})
