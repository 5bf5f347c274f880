/** The bad-input table, settings: each row's code, and the field, value and range that the message names (G13). */
import { describe, it } from 'vitest'
import { fixedWindow, RateLimiter, tokenBucket } from '../src/index.ts'
import { loose, refuses } from './refusal.ts'

const policy = tokenBucket({ limit: 3, periodMs: 1_000 })

describe('policies: RangeError ERR_HOTBUCKET_POLICY names the field, the value and the range', () => {
  const notWhole: [unknown, string][] = [[-1, '-1'], [1.5, '1.5'], [NaN, 'NaN'], [Infinity, 'Infinity'], [2 ** 31, '2147483648'], [2 ** 32 + 5, '4294967301'], [2 ** 53, '9007199254740992'], ['10', '"10"'], [null, 'null'], [10n, '10n']]
  it.each([...notWhole, [undefined, 'undefined'] as [unknown, string]])('limit %s', (limit, shown) => {
    for (const make of [() => tokenBucket({ limit: loose(limit), periodMs: 1_000 }), () => fixedWindow({ limit: loose(limit), windowMs: 1_000 })]) {
      refuses(make, RangeError, 'ERR_HOTBUCKET_POLICY', 'limit', 'a whole number from 0 to 2147483647', `got ${shown}`)
    }
  })

  it.each(notWhole.filter(([value]) => value !== null))('burst %s', (burst, shown) => {
    refuses(() => tokenBucket({ limit: 1, periodMs: 1_000, burst: loose(burst) }), RangeError, 'ERR_HOTBUCKET_POLICY', 'burst', 'a whole number from 0 to 2147483647', `got ${shown}`)
  })

  it.each([[0, '0'], [-1, '-1'], [NaN, 'NaN'], [Infinity, 'Infinity'], ['60000', '"60000"'], [null, 'null'], [undefined, 'undefined'], [1n, '1n']] as [unknown, string][])('periodMs and windowMs %s', (ms, shown) => {
    refuses(() => tokenBucket({ limit: 1, periodMs: loose(ms) }), RangeError, 'ERR_HOTBUCKET_POLICY', 'periodMs', 'above 0', `got ${shown}`)
    refuses(() => fixedWindow({ limit: 1, windowMs: loose(ms) }), RangeError, 'ERR_HOTBUCKET_POLICY', 'windowMs', 'above 0', `got ${shown}`)
  })

  it('a policy that its cell cannot hold for a year', () => {
    refuses(() => tokenBucket({ limit: 2 ** 31 - 1, periodMs: 1 }), RangeError, 'ERR_HOTBUCKET_POLICY', 'limit over periodMs')
    refuses(() => tokenBucket({ limit: 1, periodMs: 86_400_000, burst: 2 ** 31 - 1 }), RangeError, 'ERR_HOTBUCKET_POLICY', 'burst', 'a whole number from 0 to')
    refuses(() => fixedWindow({ limit: 2 ** 31 - 1, windowMs: 1 }), RangeError, 'ERR_HOTBUCKET_POLICY', 'limit', 'a whole number from 0 to')
  })

  it('an algorithm that does not exist, and a policy or argument that is no object', () => {
    refuses(() => new RateLimiter({ policy: loose({ ...policy, algorithm: 'leaky' }) }), RangeError, 'ERR_HOTBUCKET_POLICY', 'algorithm', 'token-bucket', '"leaky"')
    for (const value of [null, 1, 'free']) {
      refuses(() => new RateLimiter({ policy: loose(value) }), TypeError, 'ERR_HOTBUCKET_POLICY', 'a policy')
      refuses(() => tokenBucket(loose(value)), TypeError, 'ERR_HOTBUCKET_POLICY', 'tokenBucket')
      refuses(() => fixedWindow(loose(value)), TypeError, 'ERR_HOTBUCKET_POLICY', 'fixedWindow')
    }
  })

  it('a policy that was written by hand is checked like any other', () => {
    refuses(() => new RateLimiter({ policy: { ...policy, limit: -1 } }), RangeError, 'ERR_HOTBUCKET_POLICY', 'limit', '-1')
    refuses(() => new RateLimiter({ tiers: { a: policy, b: { ...policy, periodMs: NaN } } }), RangeError, 'ERR_HOTBUCKET_POLICY', 'periodMs', 'NaN')
  })
})

describe('options: ERR_HOTBUCKET_OPTION names the option, the value and the range', () => {
  it.each([[0, '0'], [-1, '-1'], [1.5, '1.5'], [NaN, 'NaN'], [Infinity, 'Infinity'], [2 ** 26 + 1, '67108865'], ['10', '"10"'], [null, 'null']] as [unknown, string][])('maxKeys %s', (maxKeys, shown) => {
    refuses(() => new RateLimiter({ policy, maxKeys: loose(maxKeys) }), RangeError, 'ERR_HOTBUCKET_OPTION', 'maxKeys', 'a whole number from 1 to 67108864', `got ${shown}`)
  })

  it.each([['sync', "'cas' or 'mutex'"], ['whenFull', "'deny' or 'allow'"]])('%s', (field, range) => {
    for (const value of ['atomic', '', null, 1, true]) refuses(() => new RateLimiter(loose({ policy, [field]: value })), RangeError, 'ERR_HOTBUCKET_OPTION', field, range)
  })

  it('clock and tierOf of another type', () => {
    for (const value of [null, 1, {}, { nowMs: 5 }, () => 5]) refuses(() => new RateLimiter({ policy, clock: loose(value) }), TypeError, 'ERR_HOTBUCKET_OPTION', 'clock')
    for (const value of [null, 1, {}, 'free']) refuses(() => new RateLimiter({ tiers: { free: policy }, tierOf: loose(value) }), TypeError, 'ERR_HOTBUCKET_OPTION', 'tierOf')
  })

  it('no options, no policy, policy and tiers, no tiers, too many, not an object', () => {
    for (const value of [undefined, null, 1]) refuses(() => new RateLimiter(loose(value)), TypeError, 'ERR_HOTBUCKET_OPTION', 'options')
    for (const value of [{}, { policy, tiers: { a: policy } }]) refuses(() => new RateLimiter(loose(value)), RangeError, 'ERR_HOTBUCKET_OPTION', 'tiers', 'not both')
    for (const tiers of [1, [], null]) refuses(() => new RateLimiter(loose({ tiers })), TypeError, 'ERR_HOTBUCKET_OPTION', 'tiers')
    refuses(() => new RateLimiter(loose({ tiers: {} })), RangeError, 'ERR_HOTBUCKET_OPTION', 'tiers', '1 to 32')
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, policy]))
    refuses(() => new RateLimiter({ tiers: many }), RangeError, 'ERR_HOTBUCKET_OPTION', 'tiers', '1 to 32', '33')
  })
})
