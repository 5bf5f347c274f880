/** Keys as attackers and accidents write them (G3, G6). */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { RateLimiter, SharedClock, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const two = tokenBucket({ limit: 2, periodMs: 1_000 })
const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

describe.each(engines)('%s', (sync) => {
  // https://github.com/jaredwray/cacheable/issues/1612
  it('KY-01: prototype names are ordinary keys', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length
    const { limiter } = bench(sync, two)
    for (const key of names) {
      expect(admitted(limiter, key, 3)).toBe(2)
      expect(limiter.peek(key)).toMatchObject({ allowed: false, remaining: 0 })
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before)
  })

  it('KY-01: and ordinary tier names; an unknown tier of such a name is an error', () => {
    const tiers = Object.fromEntries(names.filter((name) => name !== '__proto__').map((name) => [name, two]))
    const limiter = new RateLimiter<string>({ tiers, tierOf: (key) => key, sync, clock: new SharedClock() })
    for (const name of Object.keys(tiers)) expect(admitted(limiter, name, 3)).toBe(2)
    expect(() => limiter.allow('__proto__')).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_TIER' }))
    const plain = new RateLimiter<string>({ tiers: { free: two }, tierOf: () => 'constructor', sync })
    expect(() => plain.allow('k')).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_TIER' }))
  })

  it('KY-01: a tier that is really called __proto__ works too, in other threads as well', () => {
    const tiers = JSON.parse(JSON.stringify({ a: two }).replace('"a"', '"__proto__"')) as Record<string, typeof two>
    const limiter = new RateLimiter<string>({ tiers, sync, clock: new SharedClock() })
    expect(admitted(limiter.tier('__proto__'), 'k', 3)).toBe(2)
    const attached = RateLimiter.attach<string>(structuredClone(limiter.handle))
    expect(attached.tier('__proto__').allow('k')).toBe(false)
  })

  // https://github.com/better-auth/better-auth/pull/7300
  it('KY-02: keys that differ in one code unit, or in their tier only, are apart', () => {
    const limiter = new RateLimiter<string>({ tiers: { user: two, address: two }, sync, clock: new SharedClock() })
    for (const [first, second] of [['1.2.3.4\x005/x', '1.2.3.45\x00/x'], ['a\x00bc', 'ab\x00c'], ['a:b\x00c', 'a\x00b:c'], ['ab', 'ab\x00'], ['a', '\x00a']] as const) {
      expect(admitted(limiter.tier('user'), first, 3)).toBe(2)
      expect(limiter.tier('user').allow(second)).toBe(true)
    }
    expect(admitted(limiter.tier('user'), '127.0.0.1', 3)).toBe(2)
    expect(limiter.tier('address').allow('127.0.0.1')).toBe(true)
  })

  // https://github.com/n8n-io/n8n/pull/24636
  it('KY-04: keys of a megabyte that differ in their last character have buckets of their own, and are not kept (G6)', () => {
    const { limiter } = bench(sync, two)
    const stem = 'x'.repeat(1_000_000)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let key = 0; key < 50; key++) {
      expect(limiter.allow(stem + String.fromCharCode(256 + key))).toBe(true)
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
    expect(limiter.stats().keys).toBe(50)
    expect(limiter.allow(`${stem}\u0100`)).toBe(true)
    expect(limiter.allow(`${stem}\u0100`)).toBe(false)
    expect(limiter.peek(`${stem}\u0101`).remaining).toBe(1)
  })

  it('KY-04: a key of 50 million characters is an ordinary key', () => {
    const { limiter } = bench(sync, two)
    expect(admitted(limiter, 'x'.repeat(50_000_000), 3)).toBe(2)
    expect(limiter.allow('x'.repeat(49_999_999))).toBe(true)
  })

  // https://github.com/dj-bolt/django-bolt/pull/314
  it('KY-05: a key that is missing or no string is a TypeError, never one shared bucket', () => {
    const { limiter } = bench(sync, two)
    for (const key of [undefined, null, NaN, 1, {}, [], Promise.resolve('k')]) {
      expect(() => limiter.allow(key as string)).toThrow(expect.objectContaining({ name: 'TypeError', code: 'ERR_HOTBUCKET_KEY' }))
    }
    for (const key of ['undefined', 'null', 'NaN', '1', '[object Object]', '[object Promise]']) expect(limiter.peek(key).remaining).toBe(2)
    expect(limiter.stats().keys).toBe(0)
  })
})
