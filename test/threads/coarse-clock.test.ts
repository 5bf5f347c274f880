/** The coarse clock's real ticker: it ticks, is killed, keeps nothing alive; and many publishers at once. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as inSource from '../../src/clock/coarse-clock.ts'
import { MISSED_TICKS, MOST_AT_ONE_TIME, Ticks } from '../../src/clock/ticks.ts'
import { TickCell } from '../../src/memory/tick-cell.ts'
import type { Fault } from './crew.ts'
import { Crew, sum } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const dist = new URL('../../dist/', import.meta.url)
const { CoarseClock } = (await import(new URL('clock/coarse-clock.js', dist).href)) as typeof inSource

/** Returns when the cell has been published `times` more, by whom ever; reads no clock. */
async function published({ hint }: TickCell, times = 1): Promise<void> {
  for (; times > 0; times--) for (const seen = hint[0]; hint[0] === seen; ) await turn()
}

it('a ticker publishes by itself, while its maker is at work and after it has begun to wait', async () => {
  using clock = new CoarseClock()
  const cell = new TickCell(clock.handle.buffer)
  expect(cell.intervalMs).toBe(1)
  const first = clock.nowMs()
  await published(cell, 5)
  // Without the event loop too.
  for (const seen = cell.ms; cell.ms === seen; );
  expect(clock.nowMs()).toBeGreaterThan(first)
})

it('a killed ticker leaves a time that never steps back, and readers publish in its place (G8, G9)', async () => {
  const cell = new TickCell(1)
  const ticks = new Ticks(cell)
  for (let round = 0; round < 10; round++) {
    const ticker = new Worker(new URL('clock/ticker.js', dist), { workerData: ticks.handle })
    await published(cell, 1 + (round % 3))
    const before = ticks.nowMs()
    await ticker.terminate()
    expect(ticks.nowMs()).toBeGreaterThanOrEqual(before)
  }
  const last = cell.ms
  while (ticks.lagMs() <= MISSED_TICKS);
  expect(cell.ms).toBe(last)
  let readings = 1
  while (ticks.nowMs() <= last) readings++
  expect(readings).toBeLessThanOrEqual(MOST_AT_ONE_TIME)
  expect(cell.ms).toBeGreaterThan(last + MISSED_TICKS)
})

it('a closed clock goes on, and may be closed again', async () => {
  const clock = new CoarseClock({ intervalMs: 2 })
  await published(new TickCell(clock.handle.buffer), 2)
  clock.close()
  clock.close()
  const last = clock.nowMs()
  while (clock.nowMs() <= last);
})

it('a ticker that cannot start is warned of, and the clock goes on without (G13)', async () => {
  // Beside the source there is no compiled ticker.
  const warned = once(process, 'warning')
  const clock = new inSource.CoarseClock()
  const first = clock.nowMs()
  expect(await warned).toEqual([expect.objectContaining({ name: 'HotbucketWarning', message: expect.stringContaining('ticker') })])
  while (clock.nowMs() <= first);
})

it.each([0, 0.5, 1_001, NaN, '1', null])('an interval of %s is refused (G13)', (intervalMs) => {
  expect(() => new CoarseClock({ intervalMs: intervalMs as number })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
})

it('a process that never closes its coarse clock ends by itself (G12)', () => {
  const source = `import { RateLimiter, tokenBucket } from ${JSON.stringify(new URL('index.js', dist).href)}
    import { CoarseClock } from ${JSON.stringify(new URL('clock/coarse-clock.js', dist).href)}
    const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 3_600_000 }), clock: new CoarseClock() })
    console.log(limiter.allow('k'), limiter.allow('k'))`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8', cwd: fileURLToPath(new URL('..', dist)) })
  expect(said).toBe('true false\n')
})

describe('eight threads that publish and read at once', () => {
  let crew: Crew
  beforeAll(async () => void (crew = await Crew.of(8)))
  afterAll(() => crew[Symbol.asyncDispose]())

  /** Readings older than one that the thread had made or been passed. */
  async function stepsBack(fault?: Fault): Promise<number> {
    const { handle } = new Ticks(new TickCell(1))
    const told = new BigInt64Array(new SharedArrayBuffer(8))
    return sum(await crew.run<number>('passTime', { handle, told, rounds: 20_000 }, { fault }))
  }

  it('never see the time step back (G9)', async () => {
    expect(await stepsBack()).toBe(0)
  })

  it('of the load/store twin see it', CAUGHT_IN_TIME, async () => {
    expect(await stepsBack('load-store')).toBeGreaterThan(0)
  })
})
