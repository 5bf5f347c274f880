/** What is left when a limiter, a key or a thread is gone: nothing (G6, G12). */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LimiterHandle } from '../../src/index.ts'
import { RateLimiter, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'
import { Crew } from '../threads/crew.ts'

const policy = tokenBucket({ limit: 1, periodMs: 1_000 })
const oneCall = new URL('../workers/one-call.mjs', import.meta.url)
const dropped = fileURLToPath(new URL('../workers/dropped.mjs', import.meta.url))
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(1)))
afterAll(() => crew[Symbol.asyncDispose]())

// https://github.com/moleculerjs/moleculer-web/issues/181
it('LK-01: a process that made every kind of limiter ends by itself, unclosed (G12)', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(oneCall)])
  expect(stdout).toBe('done\n')
})

it('LK-01: so does a worker (G12)', async () => {
  const [code] = (await once(new Worker(oneCall, { stdout: true }), 'exit')) as [number]
  expect(code).toBe(0)
})

describe.each(engines)('%s', (sync) => {
  // https://github.com/nestjs/throttler/issues/2665
  it('LK-04: of 200,000 one-shot keys none is left when they are full again and swept; other threads are told by the slots (G5, G6)', () => {
    const { limiter, clock } = bench(sync, policy, { maxKeys: 200_000 })
    const other = RateLimiter.attach(limiter.handle)
    let passed = 0
    for (let key = 0; key < 200_000; key++) if (limiter.allow(`key ${key}`)) passed++
    for (let key = 199_000; key < 200_000; key++) expect(other.allow(`key ${key}`)).toBe(false)
    expect(limiter.stats()).toMatchObject({ keys: passed, tableFull: 200_000 - passed })
    expect(passed).toBeGreaterThan(199_990)
    clock.advance(2_000)
    expect(limiter.allow('probe')).toBe(true)
    expect(other.sweep()).toBe(passed + (limiter.stats().reclaimed === 0 ? 0 : -1))
    expect(limiter.stats().keys).toBe(1)
    // Both threads still have old slots in their caches, and believe neither.
    for (const each of [limiter, other]) expect(each.peek('key 199999').remaining).toBe(1)
    expect([limiter.allow('key 199999'), other.allow('key 199999')]).toEqual([true, false])
  })

  // https://github.com/dotnet/aspnetcore/issues/69061
  it('LK-05: 1,000 limiters made, used and closed leave no heap, no handle and no timer', () => {
    const cycle = () => {
      const { limiter } = bench(sync, policy, { maxKeys: 100 })
      limiter.allow('k')
      limiter.close()
      limiter.close()
      expect(() => limiter.allow('k')).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_CLOSED' }))
    }
    for (let warm = 0; warm < 100; warm++) cycle()
    collect()
    const [heap, resources] = [process.memoryUsage().heapUsed, process.getActiveResourcesInfo().length]
    for (let round = 0; round < 1_000; round++) cycle()
    collect()
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(2_000_000)
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(resources)
  })

  // https://github.com/nodejs/node/issues/28777
  it('LK-07: an arena outlives the worker that made it: main gets exactly the 2 that are left', async () => {
    const worker = new Worker(new URL('../workers/maker.mjs', import.meta.url), { workerData: sync })
    const [handle] = (await once(worker, 'message')) as [LimiterHandle<'default'>]
    await worker.terminate()
    expect(admitted(RateLimiter.attach(handle), 'k', 10)).toBe(2)
    expect(await crew.run('callOnce', { handle, key: 'k' })).toEqual([false])
  })
})

// https://github.com/nodejs/node/issues/34703
it('LK-06: 2,000 arenas of a megabyte, attached in a worker and dropped one after another, do not pile up', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [dropped, '2000'])
  const { most, made } = JSON.parse(stdout) as { most: number; made: number }
  console.info(`at most ${Math.round(most / 1e6)} MB held of ${Math.round(made / 1e6)} MB made`)
  // When the engine collects them is its own affair; that it does is the claim.
  expect(made).toBeGreaterThan(2_000_000_000)
  expect(most).toBeLessThan(made / 2)
})
