import fc from 'fast-check'
import { fixedWindow, RateLimiter, SharedClock } from 'hotbucket'
import { RefusedKeys } from 'hotbucket/metrics'
import { describe, expect, test } from 'vitest'

describe('the sketch', () => {
  test('keeps every key refused more often than one in size, and bounds each count', () => {
    const streams = fc.array(fc.integer({ min: 0, max: 30 }).map((each) => String(Math.floor(Math.sqrt(each)) * (each % 3 === 0 ? 1 : each))), { maxLength: 400 })
    fc.assert(fc.property(streams, fc.integer({ min: 1, max: 8 }), (stream, size) => {
      const [sketch, truth] = [new RefusedKeys(size), new Map<string, number>()]
      for (const key of stream) {
        sketch.add(key)
        truth.set(key, (truth.get(key) ?? 0) + 1)
      }
      const top = new Map(sketch.top().map((each) => [each.key, each]))
      expect(top.size).toBe(Math.min(size, truth.size))
      for (const [key, times] of truth) if (times > stream.length / size) expect(top.has(key)).toBe(true)
      for (const [key, { count, error }] of top) {
        expect(count).toBeGreaterThanOrEqual(truth.get(key)!)
        expect(count - error).toBeLessThanOrEqual(truth.get(key)!)
      }
      expect([...top.values()].reduce((sum, { count }) => sum + count, 0)).toBe(stream.length)
    }), { seed: 100 })
  })

  test('a million different keys take no more room than the first hundred', () => {
    const sketch = new RefusedKeys(100)
    for (let at = 0; at < 1_000_000; at += 10) sketch.add(`key ${at}`, 10)
    expect(sketch.top()).toHaveLength(100)
  })

  test('a long key is shown by its beginning and a digest, and stays itself', () => {
    const sketch = new RefusedKeys()
    const long = 'k'.repeat(1_000_000)
    for (const key of [`${long}a`, `${long}b`, `${long}a`]) sketch.add(key)
    const top = sketch.top()
    expect(top.map(({ count }) => count)).toEqual([2, 1])
    for (const { key } of top) expect(key).toMatch(/^k{64}\.\.\.#[0-9a-f]{16}$/)
  })

  test('merges what other threads post', () => {
    const [one, two] = [new RefusedKeys(2), new RefusedKeys(2)]
    one.add('a', 3)
    two.add('a', 4)
    two.add('b', 1)
    one.merge(structuredClone(two.top()))
    expect(one.top()).toEqual([{ key: 'a', count: 7, error: 0 }, { key: 'b', count: 1, error: 0 }])
  })

  test('counts refusals of allow, consume and tiers, and nothing else', () => {
    const tiers = { free: fixedWindow({ limit: 1, windowMs: 60_000 }), pro: fixedWindow({ limit: 1, windowMs: 60_000 }) }
    const limiter = new RateLimiter({ tiers, tierOf: () => 'free', clock: new SharedClock() })
    const sketch = new RefusedKeys()
    const watched = sketch.watch(limiter)
    expect([watched.allow('a'), watched.allow('a'), watched.consume('a').allowed, watched.peek('a').allowed]).toEqual([true, false, false, false])
    expect([watched.tier('pro').allow('a'), watched.tier('pro').allow('a')]).toEqual([true, false])
    expect(sketch.top()).toEqual([{ key: 'a', count: 3, error: 0 }])
    expect(watched.stats().denied).toBe(3)
    expect(watched instanceof RateLimiter).toBe(true)
    expect(() => watched.allow('')).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_KEY' }))
  })

  test.each([0, 1.5, 1001, Number.NaN, '10'])('G13: size %j is refused', (size) => {
    expect(() => new RefusedKeys(size as number)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
  })
})
