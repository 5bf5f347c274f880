// A Piscina task: one server behind one adapter in this thread, until told to stop.
import { once } from 'node:events'
import { RateLimiter } from 'hotbucket'
import { stores } from '../stores/servers.mjs'
import { adapters, ok } from './servers.mjs'

/** `own`: the broken twin, in which each thread has a limiter of its own. */
export default async function ({ adapter, handle, port, own }) {
  const limiter = own ? new RateLimiter({ tiers: handle.tiers, clock: { nowMs: () => 0 } }) : RateLimiter.attach(handle)
  const server = await { ...adapters, ...stores }[adapter]([[limiter, { key: () => 'one' }]], ok)
  port.postMessage(server.url)
  await once(port, 'message')
  port.close()
  await server.close()
}
