/** Each adapter as its users write it, in its framework's own types. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import connect from 'connect'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import hotbucket from 'hotbucket/fastify'
import type { FastifyOptions } from 'hotbucket/fastify'
import { rateLimit as honoLimit } from 'hotbucket/hono'
import { clientAddress, joinKey, rateLimit } from 'hotbucket/http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, statusesOf } from './client.ts'

const one = (): RateLimiter => new RateLimiter({ policy: fixedWindow({ limit: 1, windowMs: 60_000 }), clock: new SharedClock() })

async function urlOf(server: Server): Promise<string> {
  onTestFinished(() => { server.closeAllConnections(); server.close() })
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('node:http awaits the answer', async () => {
  const limit = rateLimit(one())
  const server = createServer(async (request, response) => {
    if (await limit(request, response)) response.end('ok')
  })
  expect(await statusesOf(await urlOf(server.listen(0, '127.0.0.1')), 2)).toEqual([200, 429])
})

test('Express 5 takes it for the whole app or for one route, with the request in its own type', async () => {
  const app = express()
  app.get('/free', (_, response) => void response.send('ok'))
  app.post('/login', rateLimit<express.Request>(one(), { key: (request) => joinKey('login', request.ip ?? '') }), (_, response) => void response.send('ok'))
  app.use(rateLimit(one(), { key: (request) => clientAddress(request) }))
  app.get('/', (_, response) => void response.send('ok'))
  const url = await urlOf(app.listen(0, '127.0.0.1'))
  expect(await statusesOf(url, 2)).toEqual([200, 429])
  expect(await statusesOf(`${url}/free`, 3)).toEqual([200, 200, 200])
  const login = [await ask(`${url}/login`, {}, undefined, 'POST'), await ask(`${url}/login`, {}, undefined, 'POST')]
  expect(login.map(({ status }) => status)).toEqual([200, 429])
})

test('Connect takes it', async () => {
  const app = connect()
  app.use(rateLimit(one()))
  app.use((_, response) => { response.end('ok') })
  expect(await statusesOf(await urlOf(createServer(app).listen(0, '127.0.0.1')), 2)).toEqual([200, 429])
})

describe('Fastify 5', () => {
  async function listen(options: Omit<FastifyOptions, 'limiter'>): Promise<string> {
    const app = fastify({ forceCloseConnections: true })
    app.register(hotbucket, { limiter: one(), ...options })
    app.get('/', () => ({ ok: true }))
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  }

  test('takes it as a plugin, over all routes of the instance', async () => {
    expect(await statusesOf(await listen({}), 2)).toEqual([200, 429])
  })

  test('can limit after the hooks that say who is logged in', async () => {
    const app = fastify({ forceCloseConnections: true })
    app.decorateRequest('user', '')
    app.addHook('preHandler', async (request) => { request.setDecorator('user', String(request.headers.user)) })
    app.register(hotbucket, { limiter: one(), hook: 'preHandler', key: (request) => request.getDecorator<string>('user') })
    app.get('/', () => 'ok')
    onTestFinished(() => app.close())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    expect([...(await statusesOf(url, 2, () => ({ user: 'ann' }))), ...(await statusesOf(url, 1, () => ({ user: 'bob' })))]).toEqual([200, 429, 200])
  })

  test('only limits the scope that registers it', async () => {
    const app = fastify({ forceCloseConnections: true })
    app.register(async (scope) => {
      scope.register(hotbucket, { limiter: one() })
      scope.get('/inside', () => 'ok')
    })
    app.get('/', () => 'ok')
    onTestFinished(() => app.close())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    expect(await statusesOf(url, 3)).toEqual([200, 200, 200])
    expect(await statusesOf(`${url}/inside`, 2)).toEqual([200, 429])
  })

  test.each<[string, FastifyOptions['handler']]>([
    ['sends', (_, reply) => { reply.code(418).send({ wait: 1 }) }],
    ['returns the reply', (_, reply) => reply.code(418).send({ wait: 1 })],
    ['returns a payload', (_, reply) => { reply.code(418); return { wait: 1 } }],
  ])('HH-04: a handler that %s gives the one response', async (_, handler) => {
    const url = await listen({ handler: handler! })
    await ask(url)
    const reply = await ask(url)
    expect([reply.status, reply.field('RateLimit'), reply.field('Retry-After')]).toEqual([418, '"default";r=0;t=60', '60'])
    expect(JSON.parse(reply.body)).toEqual({ wait: 1 })
  })

  test('HH-04: a key function that answers gives the one response', async () => {
    const app = fastify({ forceCloseConnections: true })
    app.addHook('onRequest', async (request, reply) => { Object.assign(request, { deny: () => reply.code(401).send('who?') }) })
    app.register(hotbucket, { limiter: one(), log: () => {}, key: (request) => { (request as unknown as { deny(): void }).deny(); return undefined } })
    app.get('/', () => 'ok')
    onTestFinished(() => app.close())
    const reply = await ask(await app.listen({ port: 0, host: '127.0.0.1' }))
    expect([reply.status, reply.body]).toEqual([401, 'who?'])
  })
})

describe('Hono 4', () => {
  async function listen(app: Hono): Promise<string> {
    return urlOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  }

  test('takes it for the whole app or for one route', async () => {
    const app = new Hono()
    app.get('/free', (context) => context.text('ok'))
    app.use(honoLimit(one()))
    app.get('/', (context) => context.text('ok'))
    const url = await listen(app)
    expect(await statusesOf(url, 2)).toEqual([200, 429])
    expect(await statusesOf(`${url}/free`, 2)).toEqual([200, 200])
  })

  test('HH-04: a handler\'s Response is the one response, with the fields added', async () => {
    const app = new Hono()
    app.use(honoLimit(one(), { handler: (context, { retryAfterMs }) => context.json({ retryAfterMs }, 418) }))
    app.get('/', (context) => context.text('ok'))
    const url = await listen(app)
    await ask(url)
    const reply = await ask(url)
    expect([reply.status, reply.field('Retry-After'), reply.field('Content-Type')]).toEqual([418, '60', 'application/json'])
    expect(JSON.parse(reply.body)).toEqual({ retryAfterMs: 60_000 })
  })

  test('HH-04: a handler that returns nothing leaves the 429', async () => {
    const app = new Hono()
    app.use(honoLimit(one(), { log: () => {}, handler: () => undefined as never }))
    app.get('/', (context) => context.text('ok'))
    const url = await listen(app)
    expect(await statusesOf(url, 2)).toEqual([200, 429])
  })

  test('an error of the route keeps its own answer, and bears the fields', async () => {
    const app = new Hono()
    app.use(honoLimit(one()))
    app.get('/', () => { throw new Error('oops') })
    app.onError((_, context) => context.text('caught', 500))
    const reply = await ask(await listen(app))
    expect([reply.status, reply.body, reply.field('RateLimit-Policy')]).toEqual([500, 'caught', '"default";q=1;w=60'])
  })

  test('without a socket\'s address it fails closed, until a key function knows better', async () => {
    for (const [options, status] of [[{ log: () => {} }, 503], [{ key: () => 'one' }, 200]] as const) {
      const app = new Hono()
      app.use(honoLimit(one(), options))
      app.get('/', (context) => context.text('ok'))
      expect((await app.request('/')).status).toBe(status)
    }
  })
})
