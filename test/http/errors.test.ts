import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import type { Decision } from 'hotbucket'
import { rateLimit } from 'hotbucket/http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AnyOptions } from './behind.ts'
import { behind, one } from './behind.ts'
import { admitted, ask, statusesOf } from './client.ts'
import { adapterNames } from './servers.mjs'

const window = (limit: number): RateLimiter => new RateLimiter({ policy: fixedWindow({ limit, windowMs: 60_000 }), clock: new SharedClock() })

const unhandled: unknown[] = []
const note = (error: unknown): void => { unhandled.push(error) }
beforeAll(() => { process.on('unhandledRejection', note) })
afterAll(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe.each(adapterNames)('behind %s', (adapter) => {
  // https://github.com/dj-bolt/django-bolt/pull/314
  test.each<[string, () => unknown]>([
    ['throws', () => { throw new Error('no session') }],
    ['rejects', () => Promise.reject(new Error('no session'))],
    ['returns undefined', () => undefined],
    ['resolves to null', () => Promise.resolve(null)],
    ['returns an empty string', () => ''],
    ['returns a number', () => Number.NaN],
    ['returns an object', () => ({})],
    ['returns an array', () => []],
  ])('KY-05: a key function that %s fails closed with 503, or open where asked, and makes no bucket', async (_, key) => {
    for (const [onError, status] of [[undefined, 503], ['deny', 503], ['allow', 200]] as const) {
      const [limiter, errors] = [window(1), [] as unknown[]]
      const options = { key, log: (error: unknown) => errors.push(error), ...(onError && { onError }) } as AnyOptions
      const url = await behind(adapter, [[limiter, options]])
      const reply = await ask(url)
      expect([reply.status, reply.lines('Retry-After'), reply.lines('RateLimit')]).toEqual([status, [], []])
      expect(await statusesOf(url, 2)).toEqual([status, status])
      expect(errors).toHaveLength(3)
      expect(limiter.stats()).toMatchObject({ keys: 0, allowed: 0, denied: 0 })
    }
  })

  // https://github.com/symfony/symfony/pull/63550, https://github.com/SandeepVashishtha/Eventra/pull/7044
  test.each([-1, -0.5, 0.5, Number.NaN, Infinity, -Infinity, 2 ** 53, undefined, null, '3', {}])(
    'CV-01, CV-03: a cost function that returns %j fails closed and spends nothing', async (bad) => {
      const limiter = window(10)
      let cost: unknown = bad
      const url = await one(adapter, limiter, { cost: () => cost as number, log: () => {} })
      expect(await statusesOf(url, 2)).toEqual([503, 503])
      cost = 1
      expect((await ask(url)).status).toBe(200)
      expect(limiter.peek('one').remaining).toBe(9)
    })

  // https://github.com/express-rate-limit/express-rate-limit/issues/485
  test.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('down'))],
    ['throws', () => { throw new Error('down') }],
    ['answers null', () => null],
    ['answers "OK"', () => 'OK'],
    ['answers [NaN]', () => [Number.NaN]],
    ['answers with fields missing', () => ({ allowed: true })],
  ])('SF-04: a limiter that %s gets one response each by the mode, and recovers by itself', async (_, fault) => {
    const sound = window(5)
    let broken = true
    const limiter = { consume: (key: string, cost?: number) => (broken ? (fault() as Decision) : sound.consume(key, cost)) }
    for (const [onError, status] of [['deny', 503], ['allow', 200]] as const) {
      broken = true
      const url = await one(adapter, limiter, { key: () => onError, onError, log: () => Promise.reject(new Error('cannot log')) })
      expect(await statusesOf(url, 3)).toEqual([status, status, status])
      broken = false
      expect(admitted(await statusesOf(url, 8))).toBe(5)
    }
  })

  // https://github.com/dotnet/aspnetcore/issues/69061
  test('LK-05: a limiter closed while serving fails closed', async () => {
    const [limiter, errors] = [window(5), [] as unknown[]]
    const url = await one(adapter, limiter, { log: (error: unknown) => errors.push(error) })
    expect((await ask(url)).status).toBe(200)
    limiter.close()
    expect((await ask(url)).status).toBe(503)
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_HOTBUCKET_CLOSED' })])
  })

  // https://github.com/n8n-io/n8n/pull/24636
  test('KY-04: keys of 1 MB that differ in the last character are two buckets', async () => {
    const long = 'k'.repeat(1_000_000)
    let last = 'a'
    const url = await one(adapter, window(1), { key: () => long + last })
    expect(await statusesOf(url, 2)).toEqual([200, 429])
    last = 'b'
    expect(await statusesOf(url, 2)).toEqual([200, 429])
  })

  // https://github.com/express-rate-limit/express-rate-limit/issues/197
  test('HH-04: a handler that throws leaves one response, the 429', async () => {
    const errors: unknown[] = []
    for (const handler of [() => { throw new Error('oops') }, () => Promise.reject(new Error('oops'))]) {
      const url = await one(adapter, window(0), { handler, log: (error: unknown) => errors.push(error) })
      const reply = await ask(url)
      expect([reply.status, reply.field('RateLimit')]).toEqual([429, '"default";r=0'])
      expect(reply.field('Content-Type')).toMatch(/^application\/problem\+json/)
      expect(JSON.parse(reply.body)).toMatchObject({ status: 429 })
    }
    expect(errors).toHaveLength(2)
  })

  test('a log that throws changes nothing', async () => {
    const url = await behind(adapter, [[window(1), { key: () => undefined, log: () => { throw new Error('full') } }]])
    expect((await ask(url)).status).toBe(503)
  })

  test.each<[string, AnyOptions]>([
    ['ERR_HOTBUCKET_OPTION', { key: 'ip' as never }], ['ERR_HOTBUCKET_OPTION', { onError: 'ignore' as never }],
    ['ERR_HOTBUCKET_OPTION', { refund: 'failure' }], ['ERR_HOTBUCKET_OPTION', { refund: 'always' as never }],
    ['ERR_HOTBUCKET_OPTION', { proxies: true as never }], ['ERR_HOTBUCKET_COST', { cost: -1 }], ['ERR_HOTBUCKET_TIER', { tier: 'pro' }],
  ])('G13: refuses at construction with %s the options %j', async (code, options) => {
    const { consume, tier } = window(1)
    const limiter = window(1)
    const withoutRefund = { consume: consume.bind(limiter), tier: tier.bind(limiter) }
    await expect(behind(adapter, [[withoutRefund as never, options]])).rejects.toMatchObject({ code })
  })
})

test('without a log, the first error of a kind is a process warning', async () => {
  const warnings: (Error & { code?: string })[] = []
  const listen = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  const url = await behind('express', [[window(1), { key: () => undefined }]])
  await statusesOf(url, 3)
  expect(warnings.map(({ name, code }) => [name, code])).toEqual([['HotbucketWarning', 'ERR_HOTBUCKET_KEY']])
})

describe('HH-04: a response that has begun', () => {
  async function serve(app: ReturnType<typeof express>): Promise<string> {
    const server = createServer(app).listen(0, '127.0.0.1')
    onTestFinished(() => { server.closeAllConnections(); server.close() })
    return new Promise((resolve) => { server.once('listening', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)) })
  }

  test('is left alone by a refusal, and next is not called', async () => {
    let went = 0
    const app = express()
    app.use((_, response, next) => { response.write('streamed'); next(); setImmediate(() => response.end(' whole')) })
    app.use(rateLimit(window(0), { key: () => 'one' }))
    app.use(() => { went++ })
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body, went]).toEqual([200, 'streamed whole', 0])
  })

  test('is left alone when admitted, and next is called once', async () => {
    let went = 0
    const app = express()
    app.use((_, response, next) => { response.write('streamed'); next() })
    app.use(rateLimit(window(1), { key: () => 'one' }))
    app.use((_, response) => { went++; response.end(' whole') })
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body, went]).toEqual([200, 'streamed whole', 1])
  })

  test('by a key function is one response', async () => {
    const app = express()
    app.use(rateLimit<express.Request>(window(0), { key: (request) => { request.res!.status(401).end('who?'); return 'one' } }))
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body]).toEqual([401, 'who?'])
  })

  test('by a handler is one response', async () => {
    const app = express()
    app.use(rateLimit(window(0), { key: () => 'one', handler: (_, response) => { response.statusCode = 418; response.end('teapot') } }))
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body, reply.field('RateLimit')]).toEqual([418, 'teapot', '"default";r=0'])
  })

  test('by a handler that then throws is one response, ended', async () => {
    const app = express()
    app.use(rateLimit(window(0), { key: () => 'one', log: () => {}, handler: (_, response) => { (response as express.Response).write('half'); throw new Error('oops') } }))
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body]).toEqual([429, 'half'])
  })

  test('an error of the next handler is Express\'s, and next is called once', async () => {
    let went = 0
    const app = express()
    app.use(rateLimit(window(1), { key: () => 'one' }))
    app.use(() => { went++; throw new Error('oops') })
    const quiet: express.ErrorRequestHandler = (_error, _request, response, _next) => { response.status(500).end('caught') }
    app.use(quiet)
    const reply = await ask(await serve(app))
    expect([reply.status, reply.body, went]).toEqual([500, 'caught', 1])
  })
})
