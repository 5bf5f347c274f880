/** Clocks that step back, jump, stand still or disagree (G9). */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from '../../src/index.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { admitted, bench, engines } from '../engines.ts'

const policy = tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 })
afterEach(() => void vi.useRealTimers())

describe.each(engines)('%s', (sync) => {
  // https://github.com/sethvargo/go-limiter/issues/41
  it('CL-01: a clock set back by an hour stands still, and the wait of 3,601,000 ms is true on it (G9, G10)', () => {
    const startMs = 10_000_000
    const { limiter, clock } = bench(sync, policy, { startMs })
    expect(admitted(limiter, 'k', 5)).toBe(5)
    clock.set(startMs - 3_600_000)
    for (let call = 0; call < 20; call++) {
      expect(limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 3_601_000 })
    }
    clock.advance(3_600_999)
    expect(limiter.allow('k')).toBe(false)
    clock.advance(1)
    expect(limiter.allow('k')).toBe(true)
  })

  // https://github.com/camunda/camunda/pull/6577
  it('CL-03: a step back of 1 ms neither throws nor denies, and jitter never lowers the level', () => {
    const { limiter, clock } = bench(sync, policy, { startMs: 1_000 })
    expect(limiter.consume('k', 2)).toMatchObject({ allowed: true, remaining: 3 })
    clock.set(999)
    expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 2 })
    for (let call = 0; call < 10_000; call++) {
      clock.set(1_000 + (call % 3) - 1)
      expect(call % 2 === 0 ? limiter.peek('k').remaining : limiter.consume('k', 0).remaining).toBe(2)
    }
  })

  // https://github.com/emscripten-core/emscripten/pull/6084
  it('CL-04: a thread whose clock is 30 s behind mints nothing: 15 in ten seconds (G1, G9)', () => {
    const { limiter, clock } = bench(sync, policy, { startMs: 100_000 })
    const behind = RateLimiter.attach(limiter.handle, { clock: { nowMs: () => clock.nowMs() - 30_000 } })
    let total = 0
    for (let call = 0; call <= 100; call++) {
      clock.set(100_000 + call * 100)
      total += Number(limiter.allow('k')) + Number(behind.allow('k'))
    }
    expect(total).toBe(15)
  })

  // https://github.com/nodejs/node/issues/47724
  it('CL-05: after a suspend of 8 h a bucket and a window are full, once; where the clock stood too, nothing is gained', () => {
    for (const each of [policy, fixedWindow({ limit: 5, windowMs: 1_000 })]) {
      const { limiter, clock } = bench(sync, each)
      expect(admitted(limiter, 'k', 5)).toBe(5)
      expect(admitted(limiter, 'k', 20)).toBe(0)
      expect(limiter.retryAfterMs('k')).toBe(1_000)
      clock.advance(8 * 3_600_000)
      expect(admitted(limiter, 'k', 20)).toBe(5)
    }
  })

  // https://github.com/animir/node-rate-limiter-flexible/issues/238
  it('CL-06: a window rolls over though no timer ever fires', () => {
    vi.useFakeTimers()
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 20, windowMs: 5_000 }))
    expect(admitted(limiter, 'k', 5)).toBe(5)
    clock.set(7_009)
    expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 19, resetAfterMs: 2_991 })
    expect(vi.getTimerCount()).toBe(0)
  })
})

// https://github.com/emscripten-core/emscripten/pull/6084
it('CL-04: the default clock of a worker started later reads between two readings of the main thread', async () => {
  const first = systemClock.nowMs()
  const worker = new Worker(new URL('../workers/clock-reader.mjs', import.meta.url))
  await once(worker, 'message')
  for (let round = 0; round < 5; round++) {
    const before = systemClock.nowMs()
    worker.postMessage('read')
    const [{ readMs }] = (await once(worker, 'message')) as [{ readMs: number }]
    expect(readMs).toBeGreaterThanOrEqual(before)
    expect(readMs).toBeLessThanOrEqual(systemClock.nowMs())
    expect(before).toBeGreaterThanOrEqual(first)
  }
  await worker.terminate()
})

it('a SharedClock is one time for all that hold its handle, and a step of it is atomic', () => {
  const clock = new SharedClock(5)
  const same = new SharedClock(structuredClone(clock.handle))
  expect(same.advance(10)).toBe(15)
  expect(clock.nowMs()).toBe(15)
  clock.set(-3)
  expect(same.nowMs()).toBe(-3)
  expect(() => new SharedClock({ buffer: new SharedArrayBuffer(16) })).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_HANDLE' }))
})
