/** Contention that never ends, and costs that never fit: bounded, and told as it is (G1, G2). */
import { afterEach, describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import { bench, engines } from '../engines.ts'

const { compareExchange } = Atomics
afterEach(() => void Object.assign(Atomics, { compareExchange }))

describe.each(engines)('%s', (sync) => {
  // https://github.com/kcenon/thread_system/issues/169
  it.each([0, 10, 1_000, Infinity])('FA-01: when others change the word %d times the call is bounded, exact, and never a silent allow', (times) => {
    const { limiter } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 }), { maxKeys: 1 })
    expect(limiter.allow('k')).toBe(true)
    let left = times
    Atomics.compareExchange = ((cells: Int32Array, at: number, expected: number, replacement: number) => {
      if (!(cells instanceof BigInt64Array) || left <= 0) return compareExchange(cells, at, expected, replacement)
      left--
      // Another value than expected, by one unit: the word of a bucket from which somebody took a millionth.
      return (expected as unknown as bigint) + 1n
    }) as typeof Atomics.compareExchange
    const decision = limiter.consume('k')
    Object.assign(Atomics, { compareExchange })
    const { allowed, denied, contended, casRetries } = limiter.stats()
    if (times === Infinity) {
      expect(decision.allowed).toBe(false)
      expect({ allowed, denied, contended }).toEqual({ allowed: 1, denied: 1, contended: 1 })
      expect(casRetries).toBeGreaterThan(10_000)
      expect(limiter.peek('k').remaining).toBe(4)
    } else {
      expect(decision.allowed).toBe(true)
      expect({ allowed, denied, contended }).toEqual({ allowed: 2, denied: 0, contended: 0 })
      expect(limiter.peek('k').remaining).toBe(3)
    }
  })

  // https://github.com/pelikan-io/rustcommon/pull/129
  it('FA-03: cheap calls starve an expensive one: 600 to 0, and its wait is a lower bound', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 100, burst: 10 }))
    expect(limiter.allow('k', 10)).toBe(true)
    let [cheap, expensive] = [0, 0]
    for (let ms = 100; ms <= 60_000; ms += 100) {
      clock.set(ms)
      if (limiter.allow('k')) cheap++
      if (ms % 1_000 !== 0) continue
      const decision = limiter.consume('k', 10)
      if (decision.allowed) expensive++
      expect(decision.retryAfterMs).toBe(1_000)
    }
    expect([cheap, expensive]).toEqual([600, 0])
  })
})
