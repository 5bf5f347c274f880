/** Edges at which the engine was once wrong: fractions, times below zero, a full table seen by peek. */
import { describe, expect, it } from 'vitest'
import type { Policy } from '../src/index.ts'
import { allOf, fixedWindow, RateLimiter, SharedClock, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { admitted, engines } from './engines.ts'

const policies: readonly (readonly [string, Policy])[] = [
  ['token bucket', tokenBucket({ limit: 3, periodMs: 60_000 })],
  ['fixed window', fixedWindow({ limit: 3, windowMs: 60_000 })],
  ['anchored window', fixedWindow({ limit: 3, windowMs: 60_000, anchored: 'first' })],
  ['counter', slidingWindowCounter({ limit: 3, windowMs: 60_000 })],
  ['log', slidingWindowLog({ limit: 3, windowMs: 60_000 })],
]

describe.each(engines)('under %s', (sync) => {
  const made = (policy: Policy, startMs: number, maxKeys = 64) => {
    const clock = new SharedClock(startMs)
    return { clock, limiter: new RateLimiter({ policy, clock, sync, maxKeys }) }
  }

  it.each(policies)('%s: a new key has its whole limit at any fraction of a millisecond (G2)', (_, policy) => {
    for (const startMs of [5_000.001, 0.3, 12_345.678901, 7.999_999]) {
      const { clock, limiter } = made(policy, startMs)
      for (let key = 0; key < 50; key++) {
        clock.advance(0.001 + key / 997)
        expect(admitted(limiter, `key ${key}`, 5)).toBe(3)
      }
    }
  })

  it.each(policies)('%s: a clock below zero is a clock like any other (G1, G9)', (_, policy) => {
    const { clock, limiter } = made(policy, -10_000_000)
    const other = RateLimiter.attach(limiter.handle)
    for (let step = 0; step < 100; step++) {
      clock.advance(60)
      limiter.allow('k')
      other.allow('k')
      limiter.sweep()
    }
    expect(limiter.stats().allowed).toBeLessThanOrEqual(6)
  })

  it('peek and retryAfterMs see a full table as consume does (G7, G10)', () => {
    const { clock, limiter } = made(tokenBucket({ limit: 1, periodMs: 1_000 }), 0, 2)
    expect([limiter.allow('a'), limiter.allow('b')]).toEqual([true, true])
    expect(limiter.peek('c')).toEqual(limiter.consume('c'))
    expect(limiter.retryAfterMs('c')).toBe(1_000)
    clock.advance(1_000)
    expect(limiter.peek('c').allowed).toBe(true)
    expect(limiter.allow('c')).toBe(true)
  })

  it('maxKeys keys find room under an allOf too: each takes a slot for each part', () => {
    const part = tokenBucket({ limit: 1, periodMs: 60_000 })
    for (const maxKeys of [1, 2, 5]) {
      const { limiter } = made(allOf(part, fixedWindow({ limit: 1, windowMs: 60_000 }), part), 0, maxKeys)
      for (let key = 0; key < maxKeys; key++) expect(limiter.allow(`key ${key}`)).toBe(true)
    }
  })
})

it('times beyond 278 years are refused at the door, and none makes a call hang (G13)', () => {
  for (const windowMs of [2 ** 43, 2 ** 54, 1e300, Infinity]) expect(() => fixedWindow({ limit: 1, windowMs })).toThrow(/windowMs/)
  const limiter = new RateLimiter({ policy: fixedWindow({ limit: 1, windowMs: 2 ** 43 - 1 }), clock: new SharedClock() })
  expect(limiter.consume('k').allowed).toBe(true)
  expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 2 ** 43 - 1 })
  for (const nowMs of [1e25, Infinity]) {
    let now = 0
    const late = new RateLimiter({ policy: fixedWindow({ limit: 0, windowMs: 1_000 }), clock: { nowMs: () => now } })
    now = nowMs
    expect(() => late.allow('k')).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_CLOCK' }))
  }
})
