/** An HTTP server whose requests cost CPU time, so that a pool of workers serves them. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Piscina } from 'piscina'
import { workerFlags } from './worker-flags.ts'
import type { Answer, Task, WorkerSetup } from './worker.ts'

/** Tells the replay what a Map in the worker would have said. */
export const MAP_HEADER = 'x-map-says'
/** Names the client, as a proxy in front of a server does; over loopback all have one address. */
export const CLIENT_HEADER = 'x-forwarded-for'
/** More than the longest line of a log needs. */
const MAX_HEADER_BYTES = 131_072

export interface RunningServer {
  readonly port: number
  /** Ends the connections, the server and the pool. */
  close(): Promise<void>
}

/** Starts `threads` workers of the module `worker` and a server in front of them, on a free port of loopback. */
export async function startServer(worker: URL, threads: number, setup: WorkerSetup): Promise<RunningServer> {
  const pool = new Piscina<Task, Answer>({
    filename: worker.href,
    minThreads: threads,
    maxThreads: threads,
    execArgv: workerFlags,
    workerData: setup,
  })
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 0 }, (request, response) => {
    request.resume()
    answer(pool, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    await pool.destroy()
    throw error
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await Promise.all([closed, pool.destroy()])
    },
  }
}

async function answer(pool: Piscina<Task, Answer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = String(request.headers[CLIENT_HEADER] ?? request.socket.remoteAddress)
  const { admitted, mapAdmitted, retryAfterMs, body } = await pool.run({ client, path: request.url ?? '/' })
  response.setHeader(MAP_HEADER, mapAdmitted ? 'admit' : 'refuse')
  if (!admitted && Number.isFinite(retryAfterMs)) response.setHeader('retry-after', Math.ceil(retryAfterMs / 1_000))
  response.writeHead(admitted ? 200 : 429).end(body)
}
