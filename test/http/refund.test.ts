import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { rateLimit } from 'hotbucket/http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Gate } from '../../src/http/gate.ts'
import type { AnyOptions } from './behind.ts'
import { behind, one } from './behind.ts'
import { Budget } from './budget.ts'
import { ask, keepAlive, signal, statusesOf } from './client.ts'
import { adapterNames } from './servers.mjs'

const byPath = (path: string) => ({ status: path === '/fail' ? 500 : 200, body: path })

/** The socket of a request, as any framework hands it over. */
function socketOf(request: { socket?: Socket; raw?: IncomingMessage; env?: { incoming: IncomingMessage } }): Socket {
  return request.env?.incoming.socket ?? request.raw?.socket ?? request.socket!
}

/** Begins a request and destroys its socket once the server has it. */
function abort(url: string, arrived: Promise<unknown>): Promise<unknown> {
  const outgoing = httpRequest(url, { agent: false })
  const gone = new Promise((resolve) => outgoing.once('close', resolve))
  outgoing.on('error', () => {})
  outgoing.end()
  void arrived.then(() => outgoing.destroy())
  return gone
}

describe.each(adapterNames)('behind %s', (adapter) => {
  // https://github.com/express-rate-limit/express-rate-limit/pull/110
  test.each([['keep-alive', keepAlive], ['plain', false]] as const)('HR-01: on failure a 500 is given back once, a 200 never (%s)', async (_, agent) => {
    const budget = new Budget(2)
    const url = await one(adapter, budget, { refund: 'failure' }, byPath)
    expect((await ask(`${url}/fail`, {}, agent)).status).toBe(500)
    await turn()
    expect(await statusesOf(url, 4)).toEqual([200, 200, 429, 429])
    expect(budget.refunds).toEqual([['one', 1]])
  })

  test('HR-01: on failure exactly 1 more is admitted after a 200', async () => {
    const url = await one(adapter, new Budget(2), { refund: 'failure' }, byPath)
    expect(await statusesOf(url, 3)).toEqual([200, 200, 429])
  })

  test('HR-01: on success a 200 is given back once, a 500 never', async () => {
    const budget = new Budget(2)
    const url = await one(adapter, budget, { refund: 'success', cost: 2 }, byPath)
    for (let at = 0; at < 3; at++) {
      expect((await ask(url)).status).toBe(200)
      await turn()
    }
    expect(await statusesOf(`${url}/fail`, 2)).toEqual([500, 429])
    expect(budget.refunds).toEqual([['one', 2], ['one', 2], ['one', 2]])
  })

  // https://github.com/animir/node-rate-limiter-flexible/pull/333
  test.each([['failure', '/', 200], ['success', '/fail', 500]] as const)('RF-05: on %s refusals give nothing back, those answered with 200 by a handler neither', async (refund, path, status) => {
    // The same handler for every framework: by node's response, Fastify's reply or a Response.
    const handler = (_: unknown, answer?: { end?: (body: string) => void; statusCode: number; code?: (status: number) => { send: (body: string) => unknown } }) => {
      if (answer?.code !== undefined) return answer.code(200).send('later')
      if (answer?.end === undefined) return new Response('later')
      answer.statusCode = 200
      return answer.end('later')
    }
    for (const [options, refused] of [[{}, 429], [{ handler }, 200]] as const) {
      const budget = new Budget(2)
      const url = await one(adapter, budget, { refund, ...options } as AnyOptions, byPath)
      expect(await statusesOf(url + path, 13)).toEqual([status, status, ...new Array<number>(11).fill(refused)])
      await turn()
      expect(budget.refunds).toEqual([])
    }
  })

  // https://github.com/express-rate-limit/express-rate-limit/pull/108
  test.each(['failure', 'success'] as const)('HR-02: a request that the client breaks off keeps its charge (%s)', async (refund) => {
    const budget = new Budget(2)
    const [arrived, finished] = [signal(), signal()]
    const url = await one(adapter, budget, { refund }, async (path, request) => {
      if (path !== '/slow') return byPath(path)
      arrived.resolve()
      await once(socketOf(request), 'close')
      await turn()
      setImmediate(finished.resolve)
      return { status: refund === 'failure' ? 500 : 200, body: 'late' }
    })
    await abort(`${url}/slow`, arrived.promise)
    await finished.promise
    await turn()
    expect(budget.refunds).toEqual([])
    expect(await statusesOf(`${url}${refund === 'failure' ? '/' : '/fail'}`, 2)).toEqual([refund === 'failure' ? 200 : 500, 429])
  })

  // https://github.com/express-rate-limit/express-rate-limit/issues/485
  test.each<[string, () => unknown]>([['throws', () => { throw new Error('down') }], ['rejects', () => Promise.reject(new Error('down'))]])(
    'SF-04: a refund that %s does not break the response', async (_, fault) => {
      const [budget, errors] = [new Budget(2), [] as unknown[]]
      const limiter = { consume: budget.consume.bind(budget), refund: fault }
      const url = await one(adapter, limiter, { refund: 'success', log: (error: unknown) => errors.push(error) })
      expect(await statusesOf(url, 3)).toEqual([200, 200, 429])
      await turn()
      expect(errors).toEqual([new Error('down'), new Error('down')])
    })

  test('two stacked limiters settle their own charges', async () => {
    const [outer, inner] = [new Budget(5), new Budget(1)]
    const url = await behind(adapter, [[outer, { key: () => 'a', refund: 'failure' }], [inner, { key: () => 'b' }]], byPath)
    // The inner refusal is a failed response to the outer limiter, which had admitted it.
    expect(await statusesOf(url, 2)).toEqual([200, 429])
    await turn()
    expect([outer.refunds, outer.peek('a').remaining, inner.peek('b').remaining]).toEqual([[['a', 1]], 4, 0])
  })
})

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown

async function serve(handler: Serve): Promise<string> {
  const server = createServer((request, response) => void handler(request, response)).listen(0, '127.0.0.1')
  onTestFinished(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('HR-02: breaking off after the headers keeps the charge', async () => {
  const budget = new Budget(2)
  const limit = rateLimit(budget, { key: () => 'one', refund: 'failure' })
  const over = signal()
  const url = await serve(async (request, response) => {
    if (!(await limit(request, response))) return
    response.writeHead(500)
    response.write('half')
    await once(request.socket, 'close')
    response.end('whole')
    setImmediate(over.resolve)
  })
  const outgoing = httpRequest(url, { agent: false }).end()
  outgoing.on('error', () => {})
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  incoming.on('error', () => {})
  outgoing.destroy()
  await over.promise
  expect(budget.refunds).toEqual([])
})

async function aborts(limit: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>): Promise<void> {
  const ends: Promise<unknown>[] = []
  const arrivals: (() => void)[] = []
  const url = await serve(async (request, response) => {
    if (!(await limit(request, response))) return
    const closed = once(request.socket, 'close')
    ends.push(closed.then(turn).then(() => { response.statusCode = 500; response.end() }).then(turn))
    arrivals.shift()?.()
  })
  for (let at = 0; at < 1000; at += 50) {
    await Promise.all(Array.from({ length: 50 }, () => abort(url, new Promise<void>((resolve) => arrivals.push(resolve)))))
  }
  await Promise.all(ends)
}

/** The classic fault: `finish` and `close` each take the failed call back. */
function twin(budget: Budget) {
  return async (_: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    if (!budget.consume('one').allowed) return false
    for (const event of ['finish', 'close']) response.once(event, () => budget.refund('one'))
    return true
  }
}

test('HR-02: 1,000 aborts leak no token, nor mint one', async () => {
  const budget = new Budget(1500)
  await aborts(rateLimit(budget, { key: () => 'one', refund: 'failure' }))
  expect([budget.peek('one').remaining, budget.refunds]).toEqual([500, []])
})

test('the same check catches a refund on both finish and close', async () => {
  const budget = new Budget(1500)
  await aborts(twin(budget))
  expect(budget.peek('one').remaining).not.toBe(500)
})

// https://github.com/animir/node-rate-limiter-flexible/pull/333
test('RF-05: a charge settled three times is given back once', async () => {
  const budget = new Budget(2)
  const gate = new Gate<null>(budget, { key: () => 'one', refund: 'failure' }, () => undefined)
  await gate.ask(null)
  const { settle } = await gate.ask(null)
  for (let at = 0; at < 3; at++) settle!(500)
  expect([budget.refunds, budget.peek('one').remaining]).toEqual([[['one', 1]], 1])
})
