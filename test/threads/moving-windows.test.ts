/**
 * A clock that moves while eight threads spend, for the windows: bounds from both sides (G1, G2, G9).
 *
 * A thread that is refused moves the clock by 1 ms. Eight threads can do so once each before one of them must ask
 * again, so within any 9 ms some call finds all of the window spent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const WINDOW_MS = 500
const LIMIT = 1_000
const SLACK_MS = 9
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

async function spend(sync: Engine, policy: Policy, fault?: Fault) {
  const lockTimeoutMs = fault === undefined ? 50 : 1
  const { limiter } = bench(sync, policy, { maxKeys: 8, lockTimeoutMs })
  const spent = await crew.run<{ admitted: number; reachedMs: number }>('spendAll', { handle: limiter.handle, endMs: 5_000 }, { fault })
  const reachedMs = Math.max(...spent.map((each) => each.reachedMs))
  return { admitted: sum(spent.map((each) => each.admitted)), reachedMs, windows: Math.floor(reachedMs / WINDOW_MS) + 1 }
}

const numbers = { limit: LIMIT, windowMs: WINDOW_MS }
const decayed = (ms: number) => Math.floor((LIMIT * ms) / WINDOW_MS)

/**
 * The most that a sliding window counter may let through: a limit in each window but the last two, and in these a limit and
 * as much of another as has decayed by their end.
 */
const mostOfCounter = (reachedMs: number) => LIMIT * Math.floor(reachedMs / WINDOW_MS) + decayed(reachedMs % WINDOW_MS)

/** The most admissions that surely lie within one window, wherever it begins. */
async function mostInAnyWindow(sync: Engine, fault?: Fault): Promise<number> {
  const { limiter } = bench(sync, slidingWindowLog(numbers), { maxKeys: 8, lockTimeoutMs: fault === undefined ? 50 : 1 })
  const admitted = (await crew.run<[before: number, after: number][]>('spendTimed', { handle: limiter.handle, endMs: 2_000 }, { fault })).flat()
  const starts = new Set(admitted.map(([before]) => before))
  return Math.max(...[...starts].map((start) => admitted.filter(([before, after]) => before >= start && after < start + WINDOW_MS).length))
}

describe.each(engines)('%s: 8 workers and a clock that runs', (sync) => {
  it('spend exactly the limit in each fixed window', async () => {
    const { admitted, windows } = await spend(sync, fixedWindow(numbers))
    expect(admitted).toBe(LIMIT * windows)
  })

  it('spend whole anchored windows, each opened within a few milliseconds of the end of the one before', async () => {
    const { admitted, reachedMs, windows } = await spend(sync, fixedWindow({ ...numbers, anchored: 'first' }))
    expect(admitted % LIMIT).toBe(0)
    expect(admitted / LIMIT).toBeLessThanOrEqual(windows)
    expect(admitted / LIMIT).toBeGreaterThanOrEqual(Math.floor(reachedMs / (WINDOW_MS + SLACK_MS)) + 1)
  })

  it('spend of a sliding window counter at most the limit in each window, and nearly all that decays', async () => {
    const { admitted, reachedMs, windows } = await spend(sync, slidingWindowCounter(numbers))
    expect(admitted).toBeLessThanOrEqual(mostOfCounter(reachedMs))
    // A window is left with at most the decay of its last milliseconds unspent; the last one is spent to this moment.
    const least = LIMIT + (windows - 2) * decayed(WINDOW_MS - SLACK_MS) + decayed(reachedMs % WINDOW_MS)
    expect(admitted).toBeGreaterThanOrEqual(least - windows)
  })

  it('spend of a sliding window log never more than the limit in any window, and all of it', async () => {
    const { admitted, reachedMs, windows } = await spend(sync, slidingWindowLog(numbers))
    expect(admitted).toBeLessThanOrEqual(LIMIT * windows)
    expect(admitted).toBeGreaterThanOrEqual(LIMIT * Math.floor(reachedMs / (WINDOW_MS + 2 * SLACK_MS)))
  })

  it('are never admitted more than the limit of a sliding window log, wherever the window begins', async () => {
    const most = await mostInAnyWindow(sync)
    expect(most).toBeLessThanOrEqual(LIMIT)
    expect(most).toBeGreaterThan(LIMIT / 2)
  })

  it('of the load/store twin are admitted more than that', CAUGHT_IN_TIME, async () => {
    expect(await mostInAnyWindow(sync, 'load-store')).toBeGreaterThan(LIMIT)
  })

  it('spend of allOf what the tighter part lets through, window by window', async () => {
    const bucket = tokenBucket({ limit: 10, periodMs: 1, burst: 2 * LIMIT })
    const { admitted, windows } = await spend(sync, allOf(bucket, fixedWindow(numbers)))
    expect(admitted).toBe(LIMIT * windows)
  })

  it.each([fixedWindow(numbers), fixedWindow({ ...numbers, anchored: 'first' }), slidingWindowCounter(numbers)])(
    'of the load/store twin spend more of $algorithm',
    CAUGHT_IN_TIME,
    async (policy) => {
      const { admitted, reachedMs, windows } = await spend(sync, policy, 'load-store')
      expect(admitted).toBeGreaterThan(policy.algorithm === 'sliding-window-counter' ? mostOfCounter(reachedMs) : LIMIT * windows)
    },
  )
})
