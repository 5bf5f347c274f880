/** A handle outlives policy changes: a pool's `workerData` is fixed when the pool is made. */
import { describe, expect, it } from 'vitest'
import { RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'

const policy = (limit: number) => tokenBucket({ limit, periodMs: 60_000 })
const made = () => new RateLimiter({ tiers: { free: policy(10) }, tierOf: () => 'free', maxKeys: 8, clock: new SharedClock() })
const admitted = (limiter: { allow(key: string): boolean }, calls: number) => Array.from({ length: calls }, () => limiter.allow('k')).filter(Boolean).length

describe('a handle taken before setPolicy', () => {
  it('attaches afterwards, to the policy that holds now', () => {
    const limiter = made()
    const handle = structuredClone(limiter.handle)
    limiter.setPolicy('free', policy(3))
    expect(admitted(RateLimiter.attach(handle, { tierOf: () => 'free' }), 20)).toBe(3)
  })

  it('is the same object until a policy changes, here or in another thread, and another one then', () => {
    const limiter = made()
    const other = RateLimiter.attach(structuredClone(limiter.handle), { tierOf: () => 'free' })
    expect(limiter.handle).toBe(limiter.handle)
    for (const [by, limit] of [[limiter, 3], [other, 4]] as const) {
      const before = limiter.handle
      by.setPolicy('free', policy(limit))
      expect(limiter.handle).not.toBe(before)
      expect(limiter.handle.tiers.free).toEqual(policy(limit))
      expect(limiter.handle.policyVersion).toBeGreaterThan(before.policyVersion)
    }
    expect(Object.isFrozen(limiter.handle) && Object.isFrozen(limiter.handle.tiers)).toBe(true)
  })

  it('is refused where it names other policies at the same version, or a version that never was', () => {
    const { handle } = made()
    const other = { ...handle, tiers: { free: policy(11) } }
    const refused = expect.objectContaining({ code: 'ERR_HOTBUCKET_HANDLE', message: expect.stringMatching(/"limit":11.*"limit":10/) })
    expect(() => RateLimiter.attach(other)).toThrow(refused)
    for (const policyVersion of [handle.policyVersion + 1, undefined, 0.5, '1']) {
      const forged = { ...handle, policyVersion } as typeof handle
      expect(() => RateLimiter.attach(forged)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_HANDLE' }))
    }
  })
})
