/** `hotbucket/hono`: the middleware for Hono 4. */
import type { Context, MiddlewareHandler } from 'hono'
import type { Decision } from '../index.ts'
import type { AddressSource } from './address.ts'
import { addressBy, addressRules } from './address.ts'
import type { Answer, Fields } from './answer.ts'
import { listFields } from './answer.ts'
import { Gate } from './gate.ts'
import type { GateOptions, Limiter } from './options.ts'

export interface HonoOptions extends GateOptions<Context> {
  /** Answers a refused request in the place of the 429; the fields are added to it. One that throws or returns no Response leaves it to the 429. */
  readonly handler?: (context: Context, decision: Decision) => Response | Promise<Response>
}

/** The address of the socket, which @hono/node-server hands over; elsewhere the key function must know. */
function remoteOf(context: Context): string | undefined {
  const env = context.env as { incoming?: AddressSource; server?: { incoming?: AddressSource } } | undefined
  return (env?.incoming ?? env?.server?.incoming)?.socket?.remoteAddress
}

/** Adds to a response what it does not say yet: an inner limiter's refusal is the one that counts. */
function putFields(headers: Headers, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    if (listFields.has(name)) headers.append(name, value)
    else if (!headers.has(name)) headers.set(name, value)
  }
}

/**
 * Limits requests, as `rateLimit` of `hotbucket/http` does. A refund is settled when the handler has answered, and
 * not at all if the client has gone by then.
 */
export function rateLimit(limiter: Limiter, options: HonoOptions = {}): MiddlewareHandler {
  const rules = addressRules(options)
  const gate = new Gate<Context>(limiter, options, (context) =>
    addressBy(rules, remoteOf(context), (rules.proxies > 0 && context.req.header(rules.forwardedBy)) || ''))

  const refuse = async (context: Context, answer: Answer, refused: Decision | undefined): Promise<Response> => {
    if (options.handler !== undefined && refused !== undefined) {
      try {
        const given: unknown = await options.handler(context, refused)
        if (given instanceof Response) {
          const response = new Response(given.body, given)
          putFields(response.headers, answer.fields)
          return response
        }
        gate.report(new TypeError('the handler returned no Response'))
      } catch (error) {
        gate.report(error)
      }
    }
    return new Response(answer.body, { status: answer.status, headers: answer.fields })
  }

  return async (context, next) => {
    const { answer, refused, fields, settle } = gate.ask(context)
    if (answer !== undefined) return refuse(context, answer, refused)
    await next()
    // After the handler, since one that returns a Response of its own drops what was set before it.
    for (const [name, value] of Object.entries(fields)) {
      if (listFields.has(name)) context.header(name, value, { append: true })
      else if (!context.res.headers.has(name)) context.header(name, value)
    }
    if (settle !== undefined && !context.req.raw.signal.aborted) settle(context.res.status)
    return undefined
  }
}
