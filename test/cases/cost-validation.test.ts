/** Costs that would mint or lose tokens. The whole table of bad costs is in test/bad-calls.test.ts. */
import { describe, expect, it } from 'vitest'
import { fixedWindow, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const policies = [tokenBucket({ limit: 10, periodMs: 1_000 }), fixedWindow({ limit: 10, windowMs: 1_000 })]

describe.each(engines)('%s', (sync) => {
  const throwsOn = (costs: readonly unknown[]) => {
    for (const policy of policies) {
      const { limiter } = bench(sync, policy)
      expect(limiter.allow('drained', 10)).toBe(true)
      for (const cost of costs) {
        for (const key of ['fresh', 'drained']) {
          expect(() => limiter.allow(key, cost as number)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_COST' }))
          expect(() => limiter.consume(key, cost as number)).toThrow(RangeError)
        }
      }
      expect(limiter.consume('fresh')).toMatchObject({ allowed: true, remaining: 9 })
      expect(limiter.consume('drained')).toMatchObject({ allowed: false, remaining: 0 })
    }
  }

  // https://github.com/symfony/symfony/pull/63550
  it('CV-01: a negative cost throws and mints nothing', () => throwsOn([-1, -5, -0.5, -Infinity]))

  // https://github.com/SandeepVashishtha/Eventra/pull/7044
  it('CV-03: NaN, null, a string, Infinity, 2^53 and an object throw; undefined is 1', () => {
    throwsOn([NaN, null, '3', Infinity, 2 ** 53, {}])
    for (const policy of policies) expect(bench(sync, policy).limiter.consume('k', undefined)).toMatchObject({ allowed: true, remaining: 9 })
  })

  // https://github.com/alibaba/Sentinel/issues/462
  it('CV-02: a million calls of cost 0 change nothing, and fresh keys leave no slot', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1, periodMs: 500 }), { maxKeys: 10_000 })
    expect(limiter.allow('k')).toBe(true)
    expect(admitted(limiter, 'k', 1_000_000, 0)).toBe(1_000_000)
    expect(limiter.allow('k')).toBe(false)
    clock.set(500)
    expect(limiter.allow('k')).toBe(true)
    for (let key = 0; key < 10_000; key++) expect(limiter.allow(`fresh ${key}`, 0)).toBe(true)
    expect(limiter.stats().keys).toBe(1)
  })
})
