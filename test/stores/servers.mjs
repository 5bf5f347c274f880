// The route of one answer behind the middleware that people already have, with hotbucket for its store.
import { once } from 'node:events'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import fastifyRateLimit from '@fastify/rate-limit'
import { HotbucketStore } from 'hotbucket/express-rate-limit'
import { HotbucketStore as FastifyStore } from 'hotbucket/fastify-rate-limit'

/** The numbers of a limiter's only policy. */
function numbers(limiter) {
  const [policy] = Object.values(limiter.handle.tiers)
  return { limit: policy.burst ?? policy.limit, windowMs: policy.periodMs ?? policy.windowMs }
}

export const stores = {
  async 'express-rate-limit'([[limiter, { key, ...options } = {}]], handler) {
    const app = express()
    app.use(rateLimit({ ...numbers(limiter), ...(key && { keyGenerator: key }), standardHeaders: 'draft-8', store: new HotbucketStore({ limiter }), ...options }))
    app.use(async (request, response) => {
      const { status, body } = await handler(request.path, request)
      response.status(status).end(body)
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const close = async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
    return { url: `http://127.0.0.1:${server.address().port}`, close, app }
  },

  async '@fastify/rate-limit'([[limiter, { key, routes = {}, store = FastifyStore.of(limiter), ...options } = {}]], handler) {
    const app = fastify({ forceCloseConnections: true })
    const { limit: max, windowMs: timeWindow } = numbers(limiter)
    await app.register(fastifyRateLimit, { max, timeWindow, ...(key && { keyGenerator: key }), store, ...options })
    const route = async (request, reply) => {
      const { status, body } = await handler(request.url, request)
      return reply.code(status).send(body)
    }
    app.get('/', route)
    for (const [path, rateLimitOptions] of Object.entries(routes)) app.get(path, { config: { rateLimit: rateLimitOptions } }, route)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { url: `http://127.0.0.1:${app.server.address().port}`, close: () => app.close(), app }
  },
}
