/** The live page's server: three files, a stream of events, and two buttons. On loopback only. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../log/usage.ts'
import type { Live } from './live.ts'

/** Reachable from `src/demo` and from `dist/demo` alike. */
const FOLDER = new URL('../../src/demo/page/', import.meta.url)
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
}
const EVERY_MS = 500
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface RunningPage {
  readonly url: string
  close(): Promise<void>
}

/** Only a page of this server may press buttons: no other site, and no other name for this address. */
function isOurs({ headers }: IncomingMessage): boolean {
  const host = headers.host ?? ''
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return false
  return headers.origin === undefined || headers.origin === `http://${host}`
}

function stream(live: Live, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const send = (): void => {
    // A reader that does not read is sent nothing more: what it misses is in the next state.
    if (!response.writableNeedDrain) response.write(`data: ${JSON.stringify(live.state)}\n\n`)
  }
  send()
  const timer = setInterval(send, EVERY_MS)
  response.on('close', () => clearInterval(timer))
}

async function answer(live: Live, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const json = (value: unknown): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(value))
  }
  if (!isOurs(request)) return void response.writeHead(403).end('for this page only\n')
  if (request.method === 'POST') {
    request.resume()
    const tier = searchParams.get('tier')
    if (pathname === '/burst' && (tier === 'free' || tier === 'pro')) return json(await live.burst(tier))
    if (pathname === '/traffic') return json({ switched: live.switchTraffic(searchParams.get('on') === 'true') })
  } else if (request.method === 'GET') {
    if (pathname === '/events') return stream(live, response)
    const [file, type] = (Object.hasOwn(FILES, pathname) ? FILES[pathname] : undefined) ?? []
    if (file !== undefined) {
      const headers = { 'content-type': type, 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
      return void response.writeHead(200, headers).end(await readFile(new URL(file, FOLDER)))
    }
  }
  response.writeHead(404).end('not here\n')
}

/** Serves `live` on `port` of loopback, 0 for any free one. Throws UsageError where the port cannot be had. */
export async function startPage(live: Live, port: number): Promise<RunningPage> {
  const server = createServer((request, response) => {
    answer(live, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(`${String(error)}\n`)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`--port ${port}: ${code === 'EADDRINUSE' ? 'another program has it; choose another, or 0 for any free one' : message}`)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
