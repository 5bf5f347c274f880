/** Workers come and go: nothing is used up by attaching, and counters add up for those that are gone (G6). */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

/** HOTBUCKET_WORKERS=10000 is the full claim and takes some minutes; the default is a sample of it. */
const VISITS = Number(process.env.HOTBUCKET_WORKERS ?? 30)
const AT_A_TIME = 8
const visitor = new URL('../workers/visitor.mjs', import.meta.url)
const policy = tokenBucket({ limit: 1, periodMs: 1_000, burst: 1_000_000 })
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

it.each(engines)(
  `${VISITS} workers attach and end one after another under %s: nothing runs out, the counters are exact (HOTBUCKET_WORKERS)`,
  async (sync) => {
    const { limiter } = bench(sync, policy, { maxKeys: 2 })
    limiter.allow('drained', 1_000_000)
    let started = 0
    const visits = async (): Promise<void> => {
      while (started++ < VISITS) {
        const [code] = (await once(new Worker(visitor, { workerData: limiter.handle }), 'exit')) as [number]
        expect(code).toBe(0)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, visits))
    expect(limiter.stats()).toMatchObject({ allowed: 1 + 2 * VISITS, denied: VISITS, keys: 2, tableFull: 0 })
    expect(limiter.peek('hot').remaining).toBe(1_000_000 - 2 * VISITS)
  },
  1_800_000,
)

async function attachOften(sync: Engine, fault?: Fault) {
  const { limiter } = bench(sync, policy, { maxKeys: 16 })
  limiter.allow('drained', 1_000_000)
  // 10,000 of 8 threads; a twin is caught in the first thousand or is run again.
  const [times, calls] = [fault === undefined ? 1_250 : 125, 20]
  await crew.run('attachOften', { handle: limiter.handle, times, calls }, { fault })
  const { allowed, denied, capacity, bytes } = limiter.stats()
  return { allowed, denied, capacity, bytes, calls: 8 * times * calls }
}

it.each(engines)('10,000 attachments of 8 threads, held at once, count exactly under %s, in the same memory', async (sync) => {
  const { bytes } = bench(sync, policy, { maxKeys: 16 }).limiter.stats()
  const { calls, ...stats } = await attachOften(sync)
  expect(stats).toEqual({ allowed: 1 + calls, denied: calls, capacity: 32, bytes })
})

it('the twin that counts by a load and a store loses count', CAUGHT_IN_TIME, async () => {
  const { calls, allowed, denied } = await attachOften('cas', 'torn-counter')
  expect(allowed + denied).toBeLessThan(1 + 2 * calls)
})
