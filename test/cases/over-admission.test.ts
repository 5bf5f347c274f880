/** Idle time is worth a burst and no more (G1). Real threads on one key are in test/threads. */
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

describe.each(engines)('%s', (sync) => {
  // https://github.com/uber-go/ratelimit/issues/106
  it('OA-03: after 30 s of idling a burst of 2 passes two of 1,000, and one more a second later', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 2 }))
    const passed = [[0, 1], [30_000, 1_000], [31_000, 1_000]].map(([ms, calls]) => (clock.set(ms!), admitted(limiter, 'k', calls!)))
    expect(passed).toEqual([1, 2, 1])
  })

  it('OA-03: after 30 s of idling a burst of 1 passes one of 100, and the next at 31,000 ms', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 1 }))
    expect(limiter.allow('k')).toBe(true)
    clock.set(30_000)
    expect(admitted(limiter, 'k', 100)).toBe(1)
    const passed: number[] = []
    for (let ms = 30_001; ms <= 31_000; ms++) {
      clock.set(ms)
      if (limiter.allow('k')) passed.push(ms)
    }
    expect(passed).toEqual([31_000])
  })
})
