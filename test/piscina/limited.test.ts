import { Piscina } from 'piscina'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import type { Policy } from 'hotbucket'
import { limited } from 'hotbucket/piscina'
import type { RefusedError } from 'hotbucket/piscina'
import { expect, onTestFinished, test } from 'vitest'
import { workerFlags } from '../../dist/demo/worker-flags.js'

const filename = new URL('./worker.mjs', import.meta.url).href

function shared(policy: Policy, options: { sync?: 'cas' | 'mutex' } = {}, threads = 4) {
  const limiter = new RateLimiter({ policy, clock: new SharedClock(), ...options })
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, execArgv: workerFlags, workerData: { handle: limiter.handle } })
  onTestFinished(() => pool.destroy())
  return { limiter, pool }
}

/** A counter that tasks add to. */
const counter = (): SharedArrayBuffer => new SharedArrayBuffer(4)
const countOf = (buffer: SharedArrayBuffer): number => Atomics.load(new Int32Array(buffer), 0)

test('G1, G2: the main thread and 4 workers share one limiter: exactly 100 of 1,000 calls are allowed', async () => {
  const { limiter, pool } = shared(tokenBucket({ limit: 100, periodMs: 60_000 }))
  const tasks = Array.from({ length: 8 }, () => pool.run({ key: 'one', times: 100 }, { name: 'spend' }) as Promise<number>)
  let own = 0
  for (let at = 0; at < 200; at++) if (limiter.allow('one')) own++
  expect((await Promise.all(tasks)).reduce((sum, each) => sum + each, own)).toBe(100)
  expect(limiter.stats()).toMatchObject({ allowed: 100, denied: 900 })
})

test('the same check catches a limiter in each worker', async () => {
  const policy = tokenBucket({ limit: 100, periodMs: 60_000 })
  const tasks = Array.from({ length: 4 }, () => {
    // The twin: each worker is handed an arena of its own.
    const { pool } = shared(policy, {}, 1)
    return pool.run({ key: 'one', times: 200 }, { name: 'spend' }) as Promise<number>
  })
  expect((await Promise.all(tasks)).reduce((sum, each) => sum + each)).toBe(400)
})

test.each(['cas', 'mutex'] as const)('G8: aborting a running task, which kills its worker, leaves the limiter whole (%s)', async (sync) => {
  const { limiter, pool } = shared(tokenBucket({ limit: 1000, periodMs: 60_000 }), { sync })
  for (let round = 0; round < 8; round++) {
    const [abort, gate] = [new AbortController(), counter()]
    const task = pool.run({ key: 'hot', gate }, { name: 'hammer', signal: abort.signal })
    const started = Atomics.waitAsync(new Int32Array(gate), 0, 0)
    if (started.async) await started.value
    abort.abort()
    await expect(task).rejects.toMatchObject({ name: 'AbortError' })
    expect(typeof limiter.allow('hot')).toBe('boolean')
  }
  // The dying call's own cost is the most that may be lost; a fresh key has lost nothing.
  expect(await pool.run({ key: 'hot', times: 2000 }, { name: 'spend' })).toBeLessThanOrEqual(1000)
  expect(limiter.stats().allowed).toBeLessThanOrEqual(1000)
  expect(await pool.run({ key: 'fresh', times: 2000 }, { name: 'spend' })).toBe(1000)
})

test('a refused task never enters the queue, and rejects with the Decision', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 3, windowMs: 60_000 }))
  const [gated, ran] = [limited(pool, limiter), counter()]
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => gated.run({ counter: ran }, { name: 'mark' })))
  expect(results.map(({ status }) => status)).toEqual([...new Array<string>(3).fill('fulfilled'), ...new Array<string>(7).fill('rejected')])
  for (const result of results.slice(3)) {
    const { code, decision, message } = (result as PromiseRejectedResult).reason as RefusedError
    expect(code).toBe('ERR_HOTBUCKET_REFUSED')
    expect(decision).toEqual({ allowed: false, tier: 'default', limit: 3, remaining: 0, retryAfterMs: 60_000, resetAfterMs: 60_000 })
    expect(message).toContain('60000 ms')
  }
  expect([countOf(ran), pool.completed, gated.completed]).toEqual([3, 3, 3])
})

test('a pool that is full of running tasks refuses without queueing', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 4, windowMs: 60_000 }))
  const [gated, abort, gates] = [limited(pool, limiter), new AbortController(), [counter(), counter(), counter(), counter()]]
  const running = gates.map((gate) => gated.run({ key: 'other', gate }, { name: 'hammer', signal: abort.signal }))
  await expect(gated.run({ counter: counter() }, { name: 'mark' })).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_REFUSED' })
  expect(gated.queueSize).toBe(0)
  abort.abort()
  for (const { status } of await Promise.allSettled(running)) expect(status).toBe('rejected')
})

test('keys and costs come from the task, or from the call', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 10, windowMs: 60_000 }))
  const gated = limited(pool, limiter, { key: (task: { user: string }) => task.user, cost: () => 4 })
  const task = { user: 'ann', counter: counter() }
  await gated.run(task, { name: 'mark' })
  await gated.run(task, { name: 'mark', cost: 5 })
  await gated.run(task, { name: 'mark', key: 'bob' })
  expect([limiter.peek('ann').remaining, limiter.peek('bob').remaining]).toEqual([1, 6])
  await expect(gated.run(task, { name: 'mark' })).rejects.toMatchObject({ decision: { tier: 'default', remaining: 1 } })
})

test('bad keys, costs and key functions reject, and nothing runs', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 10, windowMs: 60_000 }))
  const ran = counter()
  const gated = limited(pool, limiter, { key: (task: { key: () => string }) => task.key() })
  const run = (key: () => unknown, cost?: number) => gated.run({ key: key as () => string, counter: ran }, { name: 'mark', ...(cost !== undefined && { cost }) })
  await expect(run(() => { throw new Error('no user') })).rejects.toThrow('no user')
  await expect(run(() => undefined)).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_KEY' })
  await expect(run(() => 'ann', -1)).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_COST' })
  limiter.close()
  await expect(run(() => 'ann')).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_CLOSED' })
  expect(countOf(ran)).toBe(0)
})

test('all else is the pool\'s own', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 10, windowMs: 60_000 }))
  const gated = limited(pool, limiter)
  expect([gated.options.maxThreads, gated.threads.length, gated instanceof Piscina]).toEqual([4, 4, true])
  await gated.destroy()
  expect(pool.threads).toHaveLength(0)
})

test('G13: what is no pool or no limiter is refused', () => {
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, windowMs: 1000 }) })
  expect(() => limited({} as never, limiter)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
  expect(() => limited({ run: async () => 1 }, {} as never)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
})

test('SF-01: a key or cost function that returns a promise rejects the task, which is not charged, and its own rejection ends no process', async () => {
  const { limiter, pool } = shared(fixedWindow({ limit: 3, windowMs: 60_000 }), {}, 1)
  const unhandled: unknown[] = []
  const note = (error: unknown): void => { unhandled.push(error) }
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  for (const name of ['key', 'cost']) {
    const gated = limited(pool, limiter, { [name]: () => Promise.reject(new Error('no such host')) })
    await expect(gated.run({})).rejects.toMatchObject({ code: 'ERR_HOTBUCKET_OPTION', message: expect.stringContaining(name) as string })
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
  expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 0 })
})
