/** The bad-input table, calls: each row's code, what the message names, and nothing spent (G13). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'
import { admitted, clockOf, engines } from './engines.ts'
import { loose, refuses } from './refusal.ts'

const policy = tokenBucket({ limit: 3, periodMs: 1_000 })

describe.each(engines)('%s: a call that is refused for its arguments spends nothing', (sync) => {
  let limiter: RateLimiter
  beforeEach(() => void (limiter = new RateLimiter({ policy, sync, clock: new SharedClock() })))
  afterEach(() => {
    const { allowed, denied, keys } = limiter.stats()
    expect({ allowed, denied, keys }).toEqual({ allowed: 0, denied: 0, keys: 0 })
    expect(admitted(limiter, 'k', 10)).toBe(3)
  })
  const verbs = () => [limiter, limiter.tier('default')].flatMap((each) => [each.allow, each.consume, each.peek, each.retryAfterMs].map((verb) => verb.bind(each)))

  const badKeys: [string, unknown, string][] = [
    ['empty', '', '""'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['NaN', NaN, 'NaN'],
    ['a number', 1, '1'],
    ['a bigint', 1n, '1n'],
    ['a symbol', Symbol('k'), 'a symbol'],
    ['an object', {}, 'an object'],
    ['an array', [], 'an array'],
    ['a String object', Object('k'), 'an object'],
    ['an object whose toString throws', { toString: () => { throw new Error('no') } }, 'an object'],
    ['a function', () => 'k', 'a function'],
    ['a promise', Promise.resolve('k'), 'an object'],
  ]
  it.each(badKeys)('a key that is %s: TypeError ERR_HOTBUCKET_KEY', (_, key, shown) => {
    for (const verb of verbs()) refuses(() => verb(loose(key)), TypeError, 'ERR_HOTBUCKET_KEY', 'key', 'a string that is not empty', `got ${shown}`)
  })

  const badCosts: [unknown, string][] = [
    [-1, '-1'],
    [-5, '-5'],
    [-0.5, '-0.5'],
    [0.5, '0.5'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [2 ** 53, '9007199254740992'],
    [null, 'null'],
    ['3', '"3"'],
    [1n, '1n'],
    [true, 'true'],
    [{}, 'an object'],
  ]
  it.each(badCosts)('a cost of %s: RangeError ERR_HOTBUCKET_COST', (cost, shown) => {
    for (const verb of verbs()) refuses(() => verb('k', loose(cost)), RangeError, 'ERR_HOTBUCKET_COST', 'cost', 'a whole number from 0', `got ${shown}`)
  })

  it('a cost of 0 always succeeds and changes nothing, and undefined is 1 by default', () => {
    for (const each of [limiter, limiter.tier('default')]) {
      expect(each.allow('k', 0)).toBe(true)
      expect(each.consume('k', 0)).toMatchObject({ allowed: true, remaining: 3, retryAfterMs: 0 })
      expect(each.peek('k', undefined)).toEqual(each.peek('k', 1))
    }
  })

  it('an unknown tier: RangeError ERR_HOTBUCKET_TIER, prototype names too', () => {
    for (const name of ['gold', 'constructor', '__proto__', 'toString', '', undefined, null, 1, {}]) {
      refuses(() => limiter.tier(loose(name)), RangeError, 'ERR_HOTBUCKET_TIER', 'tier', 'one of default')
    }
  })
})

describe.each(engines)('%s: costs and keys at the edge of what is legal', (sync) => {
  it('a cost above the burst is refused for ever, and is not an error', () => {
    const limiter = new RateLimiter({ policy, sync, clock: new SharedClock() })
    for (const cost of [4, 2 ** 31, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      expect(limiter.consume('k', cost)).toMatchObject({ allowed: false, remaining: 3, retryAfterMs: Infinity })
      expect(limiter.allow('k', cost)).toBe(false)
    }
    expect(limiter.stats().keys).toBe(0)
    expect(admitted(limiter, 'k', 10)).toBe(3)
  })

  it('every other string is a key of its own, compared by code unit', () => {
    const limiter = new RateLimiter({ policy, sync, clock: new SharedClock() })
    const keys = ['__proto__', 'constructor', ' ', '  ', '\0', '\0\0', '\ud800', '\udc00', '\ufffd', 'é', 'e\u0301', 'x'.repeat(1_000_000), `${'x'.repeat(999_999)}y`, 'undefined', '0']
    for (const key of keys) expect(admitted(limiter, key, 5)).toBe(3)
    expect(limiter.stats().keys).toBe(keys.length)
  })
})

describe.each(engines)('%s: a tierOf or a clock that fails costs nothing and leaves no lock held', (sync) => {
  const verbs = ['allow', 'consume', 'peek', 'retryAfterMs'] as const

  it('what tierOf throws passes through; what it returns must be a tier', () => {
    const failure = new Error('plan service down')
    let tier: () => unknown = () => 'free'
    const limiter = new RateLimiter({ tiers: { free: policy, pro: policy }, tierOf: () => loose(tier()), sync, clock: new SharedClock() })
    for (const verb of verbs) {
      tier = () => { throw failure }
      expect(() => limiter[verb]('k')).toThrow(failure)
      for (const name of ['gold', 'constructor', undefined, null, 0, Promise.resolve('free')]) {
        tier = () => name
        refuses(() => limiter[verb]('k'), RangeError, 'ERR_HOTBUCKET_TIER', 'tier', 'one of free, pro')
      }
    }
    tier = () => 'free'
    expect(admitted(limiter, 'k', 10)).toBe(3)
  })

  it('several tiers without tierOf: only tier(name) can be asked', () => {
    const limiter = new RateLimiter({ tiers: { free: policy, pro: policy }, sync })
    refuses(() => limiter.allow('k'), RangeError, 'ERR_HOTBUCKET_TIER', 'tierOf')
    expect(limiter.tier('pro').allow('k')).toBe(true)
  })

  it('what the clock throws passes through; a reading that is no time is ERR_HOTBUCKET_CLOCK', () => {
    const failure = new Error('no clock')
    let reading: () => unknown = () => 0
    const limiter = new RateLimiter({ policy, sync, clock: clockOf(() => reading() as number) })
    expect(limiter.allow('k')).toBe(true)
    for (const key of ['k', 'a new key']) {
      for (const verb of verbs) {
        reading = () => { throw failure }
        expect(() => limiter[verb](key)).toThrow(failure)
        for (const value of [NaN, Infinity, -Infinity, 1n, '5', undefined, null, {}, 2 ** 60]) {
          reading = () => value
          refuses(() => limiter[verb](key), RangeError, 'ERR_HOTBUCKET_CLOCK', 'nowMs()')
        }
      }
    }
    reading = () => 0
    expect(limiter.stats()).toMatchObject({ keys: 1, allowed: 1, denied: 0, lockTimeouts: 0 })
    expect(admitted(limiter, 'k', 10)).toBe(2)
    // No lock left held: another attachment goes on at once.
    expect(RateLimiter.attach(limiter.handle, { clock: clockOf(() => 1_000) }).peek('k').remaining).toBe(3)
  })

  it('a clock that fails at construction or attach builds nothing', () => {
    refuses(() => new RateLimiter({ policy, sync, clock: clockOf(() => NaN) }), RangeError, 'ERR_HOTBUCKET_CLOCK', 'nowMs()', 'NaN')
    for (const start of [NaN, Infinity, 2 ** 43, '0', null]) refuses(() => new SharedClock(loose(start)), RangeError, 'ERR_HOTBUCKET_CLOCK', 'start')
    const clock = new SharedClock(5)
    for (const ms of [NaN, Infinity, 2 ** 43, '5', null, undefined]) {
      refuses(() => clock.advance(loose(ms)), RangeError, 'ERR_HOTBUCKET_CLOCK', 'ms')
      refuses(() => clock.set(loose(ms)), RangeError, 'ERR_HOTBUCKET_CLOCK', 'ms')
    }
    expect(clock.nowMs()).toBe(5)
  })
})

it('a closed limiter: every verb throws ERR_HOTBUCKET_CLOSED, closing twice is nothing, other attachments go on', () => {
  const limiter = new RateLimiter({ policy, clock: new SharedClock() })
  const other = RateLimiter.attach(limiter.handle)
  const tier = limiter.tier('default')
  limiter.close()
  limiter.close()
  limiter[Symbol.dispose]()
  const calls = [
    ...[limiter, tier].flatMap((each) => [() => each.allow('k'), () => each.consume('k'), () => each.peek('k'), () => each.retryAfterMs('k')]),
    () => limiter.tier('default'), () => limiter.sweep(), () => limiter.stats(), () => limiter.handle,
  ]
  for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_CLOSED' }))
  expect(admitted(other, 'k', 10)).toBe(3)
})
