/** Sends the requests of a log to the server, over connections that stay open. */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import type { Entry } from '../log/access-log.ts'
import { CLIENT_HEADER, MAP_HEADER } from './server.ts'

/** Methods sent as logged; any other, of which logs of public servers have many, is sent as GET. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export interface Outcome {
  readonly admitted: boolean
  readonly mapAdmitted: boolean
}

export class Client {
  readonly #port: number
  readonly #agent: Agent

  constructor(port: number, connections: number) {
    this.#port = port
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** The server's answer to `entry`. Rejects on any but 200 and 429; never sends a request twice. */
  send({ client, method, path }: Entry): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        agent: this.#agent,
        method: METHODS.has(method) ? method : 'GET',
        path: path.replace(/[^\x21-\x7e]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`),
        headers: { [CLIENT_HEADER]: client, 'content-length': 0 },
      }
      request(options, (response) => this.#read(response, resolve, reject)).on('error', reject).end()
    })
  }

  #read(response: IncomingMessage, resolve: (outcome: Outcome) => void, reject: (error: Error) => void): void {
    const status = response.statusCode
    let body = ''
    response.setEncoding('latin1')
    response.on('data', (text: string) => (body += text))
    response.on('error', reject)
    response.on('end', () => {
      if (status === 200 || status === 429) resolve({ admitted: status === 200, mapAdmitted: response.headers[MAP_HEADER] === 'admit' })
      else reject(new Error(`the server answered ${status}: ${body.slice(0, 500)}`))
    })
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy()
  }
}
