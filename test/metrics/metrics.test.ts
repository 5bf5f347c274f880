import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import { metrics, RefusedKeys } from 'hotbucket/metrics'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '../http/client.ts'

const limiterOf = (limit: number): RateLimiter => new RateLimiter({ policy: fixedWindow({ limit, windowMs: 60_000 }), clock: new SharedClock() })

/** Samples by their names with labels. */
function samples(text: string): Record<string, number> {
  return Object.fromEntries(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), Number(line.slice(at + 1))]
  }))
}

test('publishes what stats() says, and no less at the second scrape', async () => {
  const limiter = limiterOf(2)
  const { text } = metrics(limiter)
  for (let at = 0; at < 5; at++) limiter.allow('one')
  const { allowed, denied, keys, capacity, bytes } = limiter.stats()
  for (let scrape = 0; scrape < 2; scrape++) {
    expect(samples(await text())).toMatchObject({
      'hotbucket_allowed_total{limiter="default"}': allowed,
      'hotbucket_denied_total{limiter="default"}': denied,
      'hotbucket_table_full_total{limiter="default"}': 0,
      'hotbucket_cas_retries_total{limiter="default"}': 0,
      'hotbucket_keys{limiter="default"}': keys,
      'hotbucket_capacity{limiter="default"}': capacity,
      'hotbucket_bytes{limiter="default"}': bytes,
    })
  }
  limiter.allow('one')
  expect(samples(await text())['hotbucket_denied_total{limiter="default"}']).toBe(4)
})

test('every field of stats() is published', async () => {
  const limiter = limiterOf(2)
  expect(Object.keys(samples(await metrics(limiter).text()))).toHaveLength(Object.keys(limiter.stats()).length)
})

test('counts of all threads are one, past threads\' too', async () => {
  const limiter = limiterOf(10)
  const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData: limiter.handle })
  await once(worker, 'exit')
  for (let at = 0; at < 5; at++) limiter.allow('one')
  expect(samples(await metrics(limiter).text())).toMatchObject({
    'hotbucket_allowed_total{limiter="default"}': 10,
    'hotbucket_denied_total{limiter="default"}': 2,
  })
})

test('is read over a socket as Prometheus text', async () => {
  const { text, contentType } = metrics(limiterOf(2))
  const server = createServer(async (_, response) => { response.setHeader('Content-Type', contentType).end(await text()) }).listen(0, '127.0.0.1')
  onTestFinished(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  const reply = await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(reply.field('Content-Type')).toMatch(/^text\/plain; version=/)
  expect(reply.body).toMatch(/^# HELP hotbucket_allowed_total .+\n# TYPE hotbucket_allowed_total counter\n/m)
})

test('two limiters in one registry are told apart, and one name serves once', async () => {
  const registry = new Registry()
  const [one, two] = [limiterOf(1), limiterOf(1)]
  metrics(one, { registry, name: 'one' })
  const { text } = metrics(two, { registry, name: 'two' })
  one.allow('a')
  expect(samples(await text())).toMatchObject({ 'hotbucket_allowed_total{limiter="one"}': 1, 'hotbucket_allowed_total{limiter="two"}': 0 })
  expect(() => metrics(one, { registry, name: 'two' })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
})

test('refused keys are published on request alone, the worst first', async () => {
  const [limiter, refused] = [limiterOf(1), new RefusedKeys()]
  const watched = refused.watch(limiter)
  const hit = (key: string, times: number): void => { for (let at = 0; at < times; at++) watched.allow(key) }
  hit('meek', 1)
  hit('bad', 4)
  hit('wor"st\n', 10)
  hit('lone \ud800', 2)
  expect(await metrics(limiter).text()).not.toContain('hotbucket_refused')
  const shown = await metrics(limiter, { refused, top: 2 }).text()
  expect(shown.match(/^hotbucket_refused_keys.*$/gm)).toEqual([
    'hotbucket_refused_keys{limiter="default",key="wor\\"st\\n"} 9',
    'hotbucket_refused_keys{limiter="default",key="bad"} 3',
  ])
})

test('a closed limiter rejects the scrape', async () => {
  const limiter = limiterOf(1)
  const { text } = metrics(limiter)
  limiter.close()
  await expect(text()).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_CLOSED' })
})

test.each([[null, {}], [{}, {}], [limiterOf(1), { name: 1 }], [limiterOf(1), { top: 0 }]])('G13: %j with %j is refused', (limiter, options) => {
  expect(() => metrics(limiter as never, options as object)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
})
