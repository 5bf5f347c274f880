/** The adapter for node:http, node:http2, Express 5 and Connect. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Decision } from '../index.ts'
import { addressOfRequest, addressRules } from './address.ts'
import type { Answer, Fields } from './answer.ts'
import { listFields } from './answer.ts'
import { Gate } from './gate.ts'
import type { GateOptions, Limiter } from './options.ts'

export type NodeRequest = IncomingMessage | Http2ServerRequest
export type NodeResponse = ServerResponse | Http2ServerResponse

export interface NodeOptions<Q extends NodeRequest> extends GateOptions<Q> {
  /** Answers a refused request in the place of the 429; the status and the fields are set already. One that throws leaves it to the 429. */
  readonly handler?: (request: Q, response: NodeResponse, decision: Decision) => unknown
}

/** Express and Connect pass `next`; without it, await the answer: true when the request may go on. */
export interface NodeMiddleware<Q extends NodeRequest> {
  (request: Q, response: NodeResponse, next: (error?: unknown) => void): Promise<void>
  (request: Q, response: NodeResponse): Promise<boolean>
}

/** Sets the fields, unless the head is on its way already. */
export function putFields(response: NodeResponse, fields: Fields): void {
  if (response.headersSent) return
  for (const [name, value] of Object.entries(fields)) {
    const before = listFields.has(name) ? response.getHeader(name) : undefined
    response.setHeader(name, before === undefined ? value : `${before}, ${value}`)
  }
}

function put(response: NodeResponse, answer: Answer): void {
  putFields(response, answer.fields)
  if (!response.headersSent) response.statusCode = answer.status
}

/** Calls `settle` once if the response is sent whole. `finish` and `close` both come, in this order. */
export function onSent(response: NodeResponse, settle: (status: number) => void): void {
  response.once('finish', () => {
    // HTTP/2 says `finish` of a stream that the client reset, too.
    const brokenOff = !response.writableEnded || ('stream' in response && response.stream.rstCode !== 0)
    if (!brokenOff) settle(response.statusCode)
  })
}

/**
 * Limits requests. Refused ones are answered with 429, a problem+json body and `Retry-After`; all others go on, with
 * `RateLimit` and `RateLimit-Policy`. When the limit cannot be checked: 503, or as `onError` says.
 *
 * Throws ERR_HOTBUCKET_OPTION, ERR_HOTBUCKET_COST or ERR_HOTBUCKET_TIER for options that cannot be honoured; the
 * middleware itself never rejects. One limiter may serve any number of threads, each with its own middleware.
 */
export function rateLimit<Q extends NodeRequest = IncomingMessage>(limiter: Limiter, options: NodeOptions<Q> = {}): NodeMiddleware<Q> {
  const rules = addressRules(options)
  const gate = new Gate<Q>(limiter, options, (request) => addressOfRequest(rules, request))

  const refuse = async (request: Q, response: NodeResponse, answer: Answer, refused: Decision | undefined): Promise<void> => {
    // What has begun is another's answer: there can be only one.
    if (response.headersSent || response.writableEnded) return
    put(response, answer)
    if (options.handler !== undefined && refused !== undefined) {
      try {
        await options.handler(request, response, refused)
        return
      } catch (error) {
        gate.report(error)
        if (response.headersSent) return void (response.writableEnded || response.end())
        put(response, { ...answer, fields: Object.fromEntries(Object.entries(answer.fields).filter(([name]) => !listFields.has(name))) })
      }
    }
    response.end(answer.body)
  }

  const middleware = async (request: Q, response: NodeResponse, next?: (error?: unknown) => void): Promise<boolean> => {
    const { answer, refused, fields, settle } = gate.ask(request)
    if (answer !== undefined) {
      await refuse(request, response, answer, refused)
      return false
    }
    putFields(response, fields)
    if (settle !== undefined) onSent(response, settle)
    next?.()
    return true
  }
  return middleware as unknown as NodeMiddleware<Q>
}
