/** No fraction is lost and none is made, whatever the rhythm of the calls (G2, G10, G11). */
import { describe, expect, it } from 'vitest'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

describe.each(engines)('%s', (sync) => {
  // https://github.com/firecracker-microvm/firecracker/pull/3370
  it.each([
    [1, 10, 1_000],
    [3, 9, 1_002],
    [7, 9, 1_001],
    [250, 10, 1_000],
    [333, 9, 1_332],
    [999, 9, 1_998],
  ])('PR-01: polled every %i ms, 1 a second admits %i in ten seconds, the first at %i (G2)', (step, count, firstMs) => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 10 }))
    expect(admitted(limiter, 'k', 11)).toBe(10)
    const passed: number[] = []
    for (let ms = step; ms <= 10_000; ms += step) {
      clock.set(ms)
      if (limiter.allow('k')) passed.push(ms)
    }
    expect([passed.length, passed[0]]).toEqual([count, firstMs])
  })

  // https://github.com/golang/go/issues/34861
  it.each([
    [10, 13_000, 1_300, 100_000],
    [1, 3_600_000, 3_600_000, 1_000],
  ])('PR-03: %i per %i ms admits a client that comes each %i ms, %i times (G11)', (limit, periodMs, stepMs, times) => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit, periodMs, burst: 1 }))
    let passed = 0
    for (let n = 0; n <= times; n++) {
      clock.set(stepMs * n)
      if (limiter.allow('k')) passed++
    }
    expect(passed).toBe(times + 1)
  })

  // https://github.com/google/guava/issues/5290
  it.each([8_001, 80_000, 7, 3])('PR-04: %i a second is exactly that over ten seconds of polling each millisecond (G11)', (limit) => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit, periodMs: 1_000, burst: 100 }))
    expect(limiter.allow('k', 100)).toBe(true)
    let passed = 0
    for (let ms = 1; ms <= 10_000; ms++) {
      clock.set(ms)
      while (limiter.allow('k')) passed++
    }
    expect(passed).toBe(limit * 10)
  })

  // https://github.com/symfony/symfony/issues/47676
  it('PR-05: half a second refills half a second: 9 left at 0 are 10 at 600 ms', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 2, periodMs: 1_000, burst: 10 }))
    expect(limiter.consume('k').remaining).toBe(9)
    clock.set(600)
    expect(limiter.allow('k', 10)).toBe(true)
  })

  // https://github.com/sethvargo/go-limiter/issues/29
  it('PR-06: a limit of 65,535 stays 65,535', () => {
    const bucket = bench(sync, tokenBucket({ limit: 65_535, periodMs: 1_000 }))
    const window = bench(sync, fixedWindow({ limit: 65_535, windowMs: 1_000 }))
    for (let tenth = 0; tenth < 20; tenth++) {
      bucket.clock.set(tenth * 100)
      window.clock.set(tenth * 100)
      expect(bucket.limiter.consume('k').remaining).toBe(65_534)
      expect(window.limiter.consume('k').remaining).toBe(65_534 - (tenth % 10))
    }
  })

  // https://github.com/golang/time/pull/19
  it('PR-08: a bucket is full, and swept, at the instant it refills and not 1 ms earlier (G5)', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 3_000, burst: 5 }))
    expect(admitted(limiter, 'k', 5)).toBe(5)
    clock.set(14_999)
    expect([limiter.sweep(), limiter.stats().keys]).toEqual([0, 1])
    clock.set(15_000)
    expect([limiter.sweep(), limiter.stats().keys]).toEqual([1, 0])
  })
})
