/** The coarse clock on a cell and a true clock that only the test moves: starved, dead, worn round, posted to a thread. */
import { describe, expect, it } from 'vitest'
import { MISSED_TICKS, MOST_AT_ONE_TIME, Ticks } from '../src/clock/ticks.ts'
import type { Clock, LimiterHandle } from '../src/index.ts'
import { RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'
import { TickCell } from '../src/memory/tick-cell.ts'
import { admitted, engines } from './engines.ts'

const INTERVAL_MS = 1

function made({ startMs = 1_000, intervalMs = INTERVAL_MS } = {}) {
  const [cell, truth] = [new TickCell(intervalMs), new SharedClock(startMs)]
  cell.raise(startMs)
  return { cell, truth, ticks: new Ticks(cell, truth) }
}

/** Readings at one time, until a stale one may be used again. */
function settle(ticks: Ticks, readings: number): void {
  for (let reading = 0; reading < readings; reading++) ticks.nowMs()
}

it('reads what was published last, to the fraction, and says by how much that is late', () => {
  const { cell, truth, ticks } = made()
  for (const ms of [1_000.25, 1_001, 5_000.5]) {
    cell.raise(ms)
    truth.set(ms + 3)
    expect([ticks.nowMs(), ticks.lagMs()]).toEqual([ms, 3])
  }
})

it('a true clock that steps back makes it stand still (G9)', () => {
  const { truth, ticks } = made()
  truth.set(400)
  for (let reading = 0; reading < 2 * MOST_AT_ONE_TIME; reading++) {
    ticks.publish()
    expect(ticks.nowMs()).toBe(1_000)
  }
  truth.set(1_001)
  ticks.publish()
  expect(ticks.nowMs()).toBe(1_001)
})

describe.each(engines)('%s', (sync) => {
  const policy = tokenBucket({ limit: 1, periodMs: 10, burst: 5 })
  /** What was admitted, and to one on the true clock, of a call a millisecond; the ticker ticks while `isTicking`. */
  function polled(isTicking: (ms: number) => boolean, intervalMs?: number, endMs = 2_000) {
    const { cell, truth, ticks } = made(intervalMs === undefined ? {} : { intervalMs })
    const [coarse, exact] = [ticks, truth].map((clock) => new RateLimiter({ policy, sync, clock, maxKeys: 1 })) as [RateLimiter, RateLimiter]
    const seen = { coarse: 0, exact: 0, early: 0, lateMs: 0 }
    for (let ms = 0; ms < endMs; ms++) {
      truth.advance(1)
      if (isTicking(ms)) cell.raise(truth.nowMs())
      seen.exact += admitted(exact, 'k', 1)
      seen.coarse += admitted(coarse, 'k', 1)
      if (seen.coarse > seen.exact) seen.early++
      seen.lateMs = Math.max(seen.lateMs, ticks.lagMs())
    }
    return seen
  }
  const starved = (ms: number) => ms < 100 || (ms >= 150 && ms % 500 === 0) || ms > 1_900
  const dead = (ms: number) => ms < 100
  /** Of a thread that calls at each tick: its looks are at most twice as far into a standstill as the one before. */
  const STRETCH_MS = 2 * MISSED_TICKS * INTERVAL_MS

  it.each([
    ['starved', starved],
    ['dead', dead],
  ])('a %s ticker lets calls in late and never early, and never by more than twenty ticks where a call comes at each (G1, G9)', (_, isTicking) => {
    const { coarse, exact, early, lateMs } = polled(isTicking)
    expect(early).toBe(0)
    expect(lateMs).toBeGreaterThan(MISSED_TICKS)
    expect(lateMs).toBeLessThanOrEqual(STRETCH_MS)
    // The bucket is never full, so nothing is lost but what has yet to come.
    expect(exact - coarse).toBeLessThanOrEqual(STRETCH_MS / 10)
  })

  it('of a twin whose readers never publish, a dead ticker stops the time: it refuses for ever, and mints nothing', () => {
    const { coarse, early, lateMs } = polled(dead, Infinity)
    expect(early).toBe(0)
    expect(lateMs).toBeGreaterThan(STRETCH_MS)
    expect(coarse).toBe(polled(dead, Infinity, 100).exact)
  })

  /** How many of two calls a thread with a stale hint is admitted, after another rightly freed the key's full bucket. */
  function afterReclaim(clockOf: (ticks: Ticks) => Clock): number {
    const { cell, truth, ticks } = made()
    const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1_000 }), sync, clock: clockOf(ticks), maxKeys: 1 })
    expect(limiter.allow('k')).toBe(true)
    settle(ticks, 20)
    // The publisher is stopped between the time and the hint.
    const hint = cell.hint[0]!
    truth.advance(1_500)
    cell.raise(truth.nowMs())
    cell.hint[0] = hint
    const other = RateLimiter.attach(limiter.handle, { clock: new Ticks(cell, truth) })
    expect(other.sweep()).toBe(1)
    const first = admitted(limiter, 'k', 1)
    ticks.catchUp()
    return first + admitted(limiter, 'k', 1)
  }

  it('a thread whose hint is late charges a new bucket at the time at which another freed the one before (G5, G9)', () => {
    expect(afterReclaim((ticks) => ticks)).toBe(1)
  })

  it('a twin that does not catch up spends the same refill twice', () => {
    expect(afterReclaim((ticks) => ({ nowMs: () => ticks.nowMs() }))).toBe(2)
  })

  it('after any idle time, 2^31 and 2^32 ms among them, the first reading is the right one, and a bucket is full (G9)', () => {
    for (const idleMs of [2 ** 31, 2 ** 32, 2 ** 32 + 1, 3 * 2 ** 32]) {
      const { cell, truth, ticks } = made()
      const limiter = new RateLimiter({ policy, sync, clock: ticks, maxKeys: 1 })
      expect(admitted(limiter, 'k', 2_000)).toBe(5)
      truth.advance(idleMs)
      cell.raise(truth.nowMs())
      expect(ticks.nowMs()).toBe(1_000 + idleMs)
      expect(admitted(limiter, 'k', 2_000)).toBe(5)
    }
  })

  it('travels in the handle as a SharedClock does, and starts nothing where it is attached', () => {
    // Of a ticker so slow that no reader publishes the real time for it.
    const { cell, truth, ticks } = made({ intervalMs: Infinity })
    for (const [clock, move] of [[ticks, (ms: number) => cell.raise(ms)], [truth, (ms: number) => truth.set(ms)]] as const) {
      const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 60_000 }), sync, clock })
      const before = process.getActiveResourcesInfo().sort()
      const other = RateLimiter.attach(structuredClone(limiter.handle))
      expect(process.getActiveResourcesInfo().sort()).toEqual(before)
      expect([limiter.allow('k'), other.allow('k')]).toEqual([true, false])
      move(clock.nowMs() + 60_000)
      expect([other.allow('k'), limiter.allow('k')]).toEqual([true, false])
    }
  })
})

it('a twin whose hint has 32 bits stands still after 2^32 ms', () => {
  const { cell, truth, ticks } = made()
  settle(ticks, 20)
  truth.advance(2 ** 32)
  cell.raise(truth.nowMs())
  cell.hint[0] = cell.hint[0]! % 2 ** 32
  expect(ticks.nowMs()).toBe(1_000)
})

it('at one time there are at most 64 readings after a burst; then a dead ticker is made up for at every third reading at least', () => {
  const { truth, ticks } = made()
  settle(ticks, 100_000)
  truth.advance(1_000)
  let readings = 1
  while (ticks.nowMs() === 1_000) readings++
  expect(readings).toBeLessThanOrEqual(MOST_AT_ONE_TIME)
  for (let step = 0; step < 100; step++) {
    truth.advance(1_000)
    settle(ticks, 2)
    expect(ticks.nowMs()).toBe(truth.nowMs())
  }
})

it('a handle of no clock that travels is refused (G13)', () => {
  const { handle } = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1_000 }), clock: made().ticks })
  const { buffer } = handle.clock!
  for (const clock of [null, 5, 'coarse', { buffer }, { kind: 'toString', buffer }, { kind: 'shared', buffer }, { kind: 'coarse' }, { kind: 'coarse', buffer: new SharedArrayBuffer(8) }]) {
    const forged = { ...handle, clock } as unknown as LimiterHandle<'default'>
    expect(() => RateLimiter.attach(forged)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_HANDLE' }))
  }
})
