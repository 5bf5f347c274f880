/** What hangs at others: hotbucket asks no store, but a user's function may. Nothing is awaited, so nothing can wait. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import { rateLimit } from 'hotbucket/http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AnyOptions } from './behind.ts'
import { behind } from './behind.ts'
import type { Reply } from './client.ts'
import { ask } from './client.ts'
import { adapterNames } from './servers.mjs'

const window = (limit: number): RateLimiter => new RateLimiter({ policy: fixedWindow({ limit, windowMs: 60_000 }), clock: new SharedClock() })
const never = (): Promise<never> => new Promise(() => {})
const quiet = { log: () => {} }

const unhandled: unknown[] = []
const note = (error: unknown): void => { unhandled.push(error) }
beforeAll(() => { process.on('unhandledRejection', note) })
afterAll(() => void process.off('unhandledRejection', note))

/** A server that accepts and never answers. */
let hole: Server
beforeAll(async () => {
  hole = createServer((socket) => { socket.on('error', () => {}); held.push(socket) }).listen(0, '127.0.0.1')
  await once(hole, 'listening')
})
const held: { destroy(): unknown }[] = []
afterAll(() => {
  for (const socket of held) socket.destroy()
  hole.close()
})

/** A key function that asks the silent server; its socket is destroyed, and the promise rejected, when the test is over. */
async function asksHole(): Promise<string> {
  const socket = connect((hole.address() as AddressInfo).port, '127.0.0.1')
  onEnd.push(() => socket.destroy(new Error('given up')))
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString()
}
const onEnd: (() => void)[] = []

/** The path of a request, as any framework hands it over. */
const pathOf = (request: { url?: string; req?: { path: string } }): string => request.req?.path ?? request.url ?? ''
const flood = (url: string, times: number): Promise<Reply[]> => Promise.all(Array.from({ length: times }, () => ask(url)))
const statuses = (replies: readonly Reply[]): Set<number> => new Set(replies.map(({ status }) => status))

describe.each(adapterNames)('behind %s', (adapter) => {
  // https://github.com/openlinker-project/openlinker/pull/2019
  describe('SF-01: three limiters whose key function asks a store', () => {
    test.each<[string, () => Promise<string>]>([
      ['that never answers', never],
      ['behind a connection that never answers', asksHole],
      ['that fails later', () => new Promise((_, reject) => setImmediate(() => reject(new Error('no such host'))))],
    ])('%s answer each of 100 requests by the mode, and start without it', async (_, lookup) => {
      for (const [onError, status, calls] of [['deny', 503, 100], ['allow', 200, 300]] as const) {
        let asked = 0
        const limiters = [window(5), window(5), window(5)]
        const key = (): Promise<string> => { asked++; return lookup() }
        const url = await behind(adapter, limiters.map((limiter) => [limiter, { key, onError, ...quiet } as unknown as AnyOptions] as const))
        expect(asked).toBe(0)
        expect(statuses(await flood(url, 100))).toEqual(new Set([status]))
        // Those that failed closed did so at the first limiter.
        expect(asked).toBe(calls)
        for (const limiter of limiters) expect(limiter.stats()).toMatchObject({ keys: 0, allowed: 0, denied: 0 })
      }
      for (const end of onEnd.splice(0)) end()
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      expect(unhandled).toEqual([])
    })
  })

  test.each(['key', 'cost', 'tier', 'skip'] as const)('SF-01: %s that returns a promise, settled or not, is an error, told once for each request', async (name) => {
    const answers = { key: 'one', cost: 1, tier: 'default', skip: true }
    for (const promise of [never(), Promise.resolve(answers[name])]) {
      const errors: { code?: string }[] = []
      const options = { key: () => 'one', [name]: () => promise, log: (error: unknown) => errors.push(error as object) } as unknown as AnyOptions
      expect(statuses(await flood(await behind(adapter, [[window(5), options]]), 3))).toEqual(new Set([503]))
      expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'ERR_HOTBUCKET_OPTION'))
    }
  })

  // https://github.com/Emp1500/Code2Flow/pull/11
  test('SF-03: a slow store opens no fail-closed route: OTP admits 0 of 20, the page 20, and each answer tells', async () => {
    let slow = true
    const key = () => (slow ? never() : 'one')
    const route = (path: string, onError: 'allow' | 'deny') =>
      [window(5), { key, onError, skip: (request: object) => pathOf(request) !== path, ...quiet } as unknown as AnyOptions] as const
    const url = await behind(adapter, [route('/otp', 'deny'), route('/page', 'allow')])
    const [otp, page] = [await flood(`${url}/otp`, 20), await flood(`${url}/page`, 20)]
    for (const reply of otp) {
      expect([reply.status, reply.lines('Retry-After'), reply.lines('RateLimit')]).toEqual([503, [], []])
      expect(JSON.parse(reply.body)).toMatchObject({ status: 503, decidedBy: 'fallback' })
    }
    for (const reply of page) expect([reply.status, reply.body, reply.lines('RateLimit')]).toEqual([200, 'ok', []])
    slow = false
    for (const path of ['/otp', '/page']) {
      const replies = await flood(url + path, 20)
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(5)
      for (const { status, lines, body } of replies) {
        expect(lines('RateLimit')).toHaveLength(1)
        expect(status === 200 || JSON.parse(body)).not.toMatchObject({ decidedBy: 'fallback' })
      }
    }
  })
})

test('the same flood catches a middleware that awaits: none is answered while the store is silent', async () => {
  const [limit, arrived] = [rateLimit(window(5), { key: () => 'one' }), [] as unknown[]]
  let release = (): void => {}
  const silent = new Promise<void>((resolve) => { release = resolve })
  const server = createHttpServer(async (request, response) => {
    if (request.url === '/count') return void response.end(String(arrived.length))
    arrived.push(request)
    await silent
    if (await limit(request, response)) response.end('ok')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let answered = 0
  const all = Promise.all(Array.from({ length: 100 }, () => ask(url, {}, false).then(() => answered++)))
  while ((await ask(`${url}/count`, {}, false)).body !== '100');
  expect(answered).toBe(0)
  release()
  await all
  expect(answered).toBe(100)
})
