/** The same over HTTP/2, whose streams end in ways of their own. */
import { once } from 'node:events'
import * as http2 from 'node:http2'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { rateLimit } from 'hotbucket/http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Budget } from './budget.ts'
import { signal } from './client.ts'

describe('HTTP/2', () => {
  async function session(handler: (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => unknown) {
    const server = http2.createServer((request, response) => void handler(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const client = http2.connect(`http://127.0.0.1:${port}`, { createConnection: () => socket })
    client.on('error', () => {})
    onTestFinished(() => { client.destroy(); server.close() })
    const get = async (path: string): Promise<number> => {
      const stream = client.request({ ':path': path })
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status': number }]
      stream.resume()
      await once(stream, 'close')
      return headers[':status']
    }
    return { client, get, socket }
  }

  test('HR-01, HR-02: a failure is given back once; a stream that the client resets keeps its charge', async () => {
    const budget = new Budget(2)
    const limit = rateLimit<http2.Http2ServerRequest>(budget, { key: () => 'one', refund: 'failure' })
    const [arrived, over] = [signal(), signal()]
    const { client, get } = await session(async (request, response) => {
      if (!(await limit(request, response))) return
      if (request.url === '/slow') {
        arrived.resolve()
        await once(request.stream, 'close')
        response.statusCode = 500
        response.end('late')
        setImmediate(over.resolve)
        return
      }
      response.statusCode = request.url === '/fail' ? 500 : 200
      response.end('ok')
    })
    expect(await get('/fail')).toBe(500)
    await turn()
    expect(budget.refunds).toEqual([['one', 1]])
    const stream = client.request({ ':path': '/slow' })
    stream.on('error', () => {})
    await arrived.promise
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await over.promise
    await turn()
    expect(budget.refunds).toEqual([['one', 1]])
    expect([await get('/'), await get('/')]).toEqual([200, 429])
  })

  test('HR-02: a stream reset before its body was taken keeps its charge', async () => {
    const budget = new Budget(2)
    const limit = rateLimit<http2.Http2ServerRequest>(budget, { key: () => 'one', refund: 'success' })
    const over = signal()
    const { client } = await session(async (request, response) => {
      if (!(await limit(request, response))) return
      request.stream.once('close', () => setImmediate(over.resolve))
      // More than the client's window: the handler has ended, the response has not.
      response.end(Buffer.alloc(1_000_000))
    })
    const stream = client.request({ ':path': '/' })
    stream.on('error', () => {})
    await once(stream, 'response')
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await over.promise
    expect(budget.refunds).toEqual([])
  })

  test.each<[string, (client: http2.ClientHttp2Session, stream: http2.ClientHttp2Stream, socket: Socket) => void]>([
    ['a session that ends', (client) => client.destroy()],
    ['a connection that breaks', (_, __, socket) => socket.destroy()],
    ['a stream reset without an error', (_, stream) => stream.close()],
  ])('HR-02: %s during the handler keeps its charge', async (_, leave) => {
    const budget = new Budget(2)
    const limit = rateLimit<http2.Http2ServerRequest>(budget, { key: () => 'one', refund: 'success' })
    const [arrived, over] = [signal(), signal()]
    const { client, socket } = await session(async (request, response) => {
      if (!(await limit(request, response))) return
      request.stream.once('close', () => setImmediate(over.resolve))
      arrived.resolve()
    })
    const stream = client.request({ ':path': '/' }).on('error', () => {})
    await arrived.promise
    leave(client, stream, socket)
    await over.promise
    expect(budget.refunds).toEqual([])
  })
})
