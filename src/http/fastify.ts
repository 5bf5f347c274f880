/** `hotbucket/fastify`: the plugin for Fastify 5. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Decision } from '../index.ts'
import { addressOfRequest, addressRules } from './address.ts'
import type { Fields } from './answer.ts'
import { listFields } from './answer.ts'
import { Gate } from './gate.ts'
import { onSent } from './node.ts'
import type { GateOptions, Limiter } from './options.ts'

export interface FastifyOptions extends GateOptions<FastifyRequest> {
  readonly limiter: Limiter
  /** Where in a request's life it is limited; `'onRequest'` by default. Later ones know who is logged in. */
  readonly hook?: 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
  /** Answers a refused request in the place of the 429, by `reply.send` or by what it returns; status and fields are set already. One that throws leaves it to the 429. */
  readonly handler?: (request: FastifyRequest, reply: FastifyReply, decision: Decision) => unknown
}

function putFields(reply: FastifyReply, fields: Fields): void {
  if (reply.sent || reply.raw.headersSent) return
  for (const [name, value] of Object.entries(fields)) {
    const before = listFields.has(name) ? reply.getHeader(name) : undefined
    reply.header(name, before === undefined ? value : `${String(before)}, ${value}`)
  }
}

/** Limits the routes of the instance it is registered on. Options and answers are those of `hotbucket/http`. */
async function hotbucket(app: FastifyInstance, { limiter, ...options }: FastifyOptions): Promise<void> {
  const rules = addressRules(options)
  const gate = new Gate<FastifyRequest>(limiter, options, (request) => addressOfRequest(rules, request.raw))

  app.addHook(options.hook ?? 'onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { answer, refused, fields, settle } = gate.ask(request)
    if (answer === undefined) {
      putFields(reply, fields)
      if (settle !== undefined) onSent(reply.raw, settle)
      return
    }
    if (reply.sent || reply.raw.headersSent) return reply
    putFields(reply, answer.fields)
    reply.code(answer.status)
    if (options.handler !== undefined && refused !== undefined) {
      try {
        const given = await options.handler(request, reply, refused)
        return given === undefined || given === reply || reply.sent ? reply : reply.send(given)
      } catch (error) {
        gate.report(error)
        if (reply.sent || reply.raw.headersSent) return reply
        reply.code(answer.status).type(answer.fields['Content-Type']!)
      }
    }
    return reply.send(answer.body)
  })
}

export default Object.assign(hotbucket, {
  // What fastify-plugin sets: the hook belongs to the instance that registers, not to a scope of its own.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'hotbucket',
  [Symbol.for('plugin-meta')]: { name: 'hotbucket', fastify: '5.x' },
})
