// The same three routes behind each adapter, over real sockets; for the main thread and for workers alike.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { serve as serveHono } from '@hono/node-server'
import connect from 'connect'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import hotbucket from 'hotbucket/fastify'
import { rateLimit as honoLimit } from 'hotbucket/hono'
import { rateLimit } from 'hotbucket/http'

/** @typedef {(path: string, request: unknown) => { status: number, body: string } | Promise<{ status: number, body: string }>} Handler */

async function listening(server, close) {
  if (!server.listening) await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}`, server, close }
}

function closer(server) {
  return async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

async function write(handler, request, response) {
  const { status, body } = await handler(new URL(request.originalUrl ?? request.url, 'http://x').pathname, request)
  response.statusCode = status
  response.end(body)
}

/** `limits` is a list of [limiter, options], outermost first; each becomes one middleware. */
export const adapters = {
  async 'node:http'(limits, handler) {
    const chain = limits.map(([limiter, options]) => rateLimit(limiter, options))
    const server = createServer(async (request, response) => {
      for (const middleware of chain) if (!(await middleware(request, response))) return
      await write(handler, request, response)
    }).listen(0, '127.0.0.1')
    return listening(server, closer(server))
  },

  async express(limits, handler) {
    const app = express()
    for (const [limiter, options] of limits) app.use(rateLimit(limiter, options))
    app.use((request, response) => write(handler, request, response))
    const server = app.listen(0, '127.0.0.1')
    return listening(server, closer(server))
  },

  async connect(limits, handler) {
    const app = connect()
    for (const [limiter, options] of limits) app.use(rateLimit(limiter, options))
    app.use((request, response) => write(handler, request, response))
    const server = createServer(app).listen(0, '127.0.0.1')
    return listening(server, closer(server))
  },

  async fastify(limits, handler) {
    const app = fastify({ forceCloseConnections: true })
    for (const [limiter, options] of limits) app.register(hotbucket, { limiter, ...options })
    app.all('/*', async (request, reply) => {
      const { status, body } = await handler(new URL(request.url, 'http://x').pathname, request)
      return reply.code(status).send(body)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return listening(app.server, () => app.close())
  },

  async hono(limits, handler) {
    const app = new Hono()
    for (const [limiter, options] of limits) app.use(honoLimit(limiter, options))
    app.all('*', async (context) => {
      const { status, body } = await handler(context.req.path, context)
      return new Response(body, { status })
    })
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    return listening(server, closer(server))
  },
}

export const adapterNames = Object.keys(adapters)

export const ok = () => ({ status: 200, body: 'ok' })
