import { MessageChannel } from 'node:worker_threads'
import { once } from 'node:events'
import { Piscina } from 'piscina'
import { RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import { afterAll, expect, test } from 'vitest'
import { stores } from '../stores/servers.mjs'
import { adapterNames, adapters, ok } from './servers.mjs'

const pool = new Piscina({ filename: new URL('./worker.mjs', import.meta.url).href, minThreads: 4, maxThreads: 4 })
afterAll(() => pool.destroy())

const all = { ...adapters, ...stores }

/** Statuses of 1,000 requests at once, 200 to each of five threads. */
async function statuses(adapter: string, limiter: RateLimiter, own: boolean): Promise<Map<number, number>> {
  const main = await all[adapter]!([[limiter, { key: () => 'one' }]], ok)
  const workers = Array.from({ length: 4 }, () => {
    const { port1, port2 } = new MessageChannel()
    const done = pool.run({ adapter, handle: limiter.handle, port: port2, own }, { transferList: [port2] })
    return { port: port1, done, url: once(port1, 'message').then(([url]) => url as string) }
  })
  try {
    const urls = [main.url, ...(await Promise.all(workers.map(({ url }) => url)))]
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, at) => fetch(urls[at % 5]!)))
    const counts = new Map<number, number>()
    for (const answer of answers) {
      await answer.arrayBuffer()
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
    }
    return counts
  } finally {
    for (const { port } of workers) port.postMessage('stop')
    await Promise.all([main.close(), ...workers.map(({ done }) => done)])
  }
}

test.each([...adapterNames, ...Object.keys(stores)])('G1, G2: 4 Piscina workers and the main thread behind %s answer exactly 100 of 1,000 requests with 200', async (adapter) => {
  const limiter = new RateLimiter({ policy: tokenBucket({ limit: 100, periodMs: 60_000 }), clock: new SharedClock() })
  expect(await statuses(adapter, limiter, false)).toEqual(new Map([[200, 100], [429, 900]]))
  expect(limiter.stats()).toMatchObject({ allowed: 100, denied: 900 })
})

test('the same check catches a limiter in each thread: 500 answers of 200', async () => {
  const limiter = new RateLimiter({ policy: tokenBucket({ limit: 100, periodMs: 60_000 }), clock: new SharedClock() })
  expect((await statuses('node:http', limiter, true)).get(200)).toBe(500)
})
