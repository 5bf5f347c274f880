/** What happens at the edge of a window, where the algorithms differ by definition. */
import { describe, expect, it } from 'vitest'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

describe.each(engines)('%s', (sync) => {
  // https://github.com/redisson/redisson/issues/2931
  it('WE-01: around an edge a fixed window passes 10 + 10, by design, and a token bucket 10 + 0', () => {
    const around = (policy: Parameters<typeof bench>[1]) => {
      const { limiter, clock } = bench(sync, policy, { startMs: 59_999 })
      const before = admitted(limiter, 'k', 15)
      clock.set(60_000)
      return [before, admitted(limiter, 'k', 15)]
    }
    expect(around(fixedWindow({ limit: 10, windowMs: 60_000 }))).toEqual([10, 10])
    expect(around(tokenBucket({ limit: 10, periodMs: 60_000 }))).toEqual([10, 0])
  })

  // https://github.com/mokies/ratelimitj/issues/24
  it('WE-02: the edge belongs to the new window: 1 a second passes at 0, not at 999, passes at 1,000', () => {
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 1, windowMs: 1_000 }))
    const passed = [0, 999, 1_000].map((ms) => (clock.set(ms), limiter.allow('k')))
    expect(passed).toEqual([true, false, true])
  })

  // https://github.com/OpenMeet-Team/openmeet-api/issues/338
  it('WE-06: hits do not move the end of a window: it is 60,000 for all of them', () => {
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 5, windowMs: 60_000 }))
    for (const ms of [0, 15_000, 30_000, 45_000, 59_000]) {
      clock.set(ms)
      const { allowed, resetAfterMs } = limiter.consume('k')
      expect([allowed, ms + resetAfterMs]).toEqual([true, 60_000])
    }
    clock.set(60_000)
    expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 4 })
  })

  it('WE-06: windows lie at multiples of their length on the clock, wherever the first hit falls', () => {
    const { limiter, clock } = bench(sync, fixedWindow({ limit: 5, windowMs: 60_000 }), { startMs: 45_000 })
    expect(limiter.consume('k', 5)).toMatchObject({ allowed: true, retryAfterMs: 15_000, resetAfterMs: 15_000 })
    clock.set(60_000)
    expect(limiter.allow('k', 5)).toBe(true)
  })

  // https://github.com/nestjs/throttler/issues/2208
  it('WE-07: 1,000 refusals do not prolong the refusal: exactly one passes at 1,000 ms (G2)', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 10 }))
    expect(admitted(limiter, 'k', 10)).toBe(10)
    clock.set(500)
    expect(admitted(limiter, 'k', 1_000)).toBe(0)
    clock.set(1_000)
    expect(admitted(limiter, 'k', 5)).toBe(1)
  })
})
