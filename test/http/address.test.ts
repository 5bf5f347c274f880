import fc from 'fast-check'
import { clientAddress, joinKey } from 'hotbucket/http'
import { describe, expect, test } from 'vitest'
import { canonicalAddress } from '../../src/http/address.ts'

const from = (remoteAddress: string | undefined, headers: Record<string, string | string[]> = {}) => ({ socket: { remoteAddress }, headers })

describe('an address', () => {
  // https://github.com/express-rate-limit/express-rate-limit/issues/502
  test('HI-01: every spelling of one IPv6 address is one key', () => {
    const spellings = [
      '2001:db8:1:1::1', '2001:DB8:1:1::1', '2001:0db8:0001:0001:0000:0000:0000:0001', '2001:db8:1:1::1%eth0',
      '[2001:db8:1:1::1]', '[2001:db8:1:1::1]:443', '"[2001:db8:1:1::1]:443"', ' 2001:db8:1:1:0:0:0:1 ', '2001:db8:1:1::0.0.0.1',
    ]
    expect(new Set(spellings.map((each) => canonicalAddress(each)))).toEqual(new Set(['2001:db8:1:1::/64']))
  })

  test.each([
    ['::ffff:192.0.2.1', '192.0.2.1'], ['::FFFF:c000:0201', '192.0.2.1'], ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'], ['192.0.2.1:8080', '192.0.2.1'], ['::1', '0:0:0:0::/64'], ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'], ['::ffff:192.0.2.1%eth0.1', '192.0.2.1'], ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'], ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s is the key %s', (text, key) => {
    expect(canonicalAddress(text)).toBe(key)
  })

  test.each([[128, '2001:db8:1:1ff:2:3:4:5/128'], [64, '2001:db8:1:1ff::/64'], [56, '2001:db8:1:100::/56'], [48, '2001:db8:1::/48'], [1, '0::/1']])(
    'is cut to a prefix of %i bits as %s', (prefix, key) => {
      expect(canonicalAddress('2001:db8:1:1ff:2:3:4:5', prefix)).toBe(key)
    })

  test.each(['', 'unknown', '_hidden', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '1.2.3.4:99999999', ':::', '1::2::3', '[::1', '::1]:x', '<script>', '\0'])(
    'is not %j', (text) => {
      expect(canonicalAddress(text)).toBeUndefined()
    })

  test('of a prefix depends on the prefix alone', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(fc.property(fc.tuple(group, group, group, group), fc.tuple(group, group, group, group), fc.tuple(group, group, group, group), (network, one, other) => {
      // Mapped IPv4 is the one exception, and lies in ::/64.
      fc.pre(network.some((each) => each !== 0))
      const spell = (host: number[]) => [...network, ...host].map((each) => each.toString(16)).join(':')
      return canonicalAddress(spell(one)) === canonicalAddress(spell(other))
    }), { seed: 64 })
  })
})

describe('the client address', () => {
  // https://github.com/brendanlong/lion-reader/issues/983
  test('HI-03: behind no proxy, forwarding headers are not read', () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    expect(clientAddress(from('192.0.2.1', headers))).toBe('192.0.2.1')
  })

  test.each([
    ['one entry', 1, '203.0.113.9', '203.0.113.9'],
    ['the right-most of several', 1, '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['the second from the right behind two', 2, '6.6.6.6, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
    ['fewer entries than proxies', 2, '203.0.113.9', '203.0.113.9'],
    ['an IPv6 address with a port', 1, '6.6.6.6, [2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['no entry', 1, '', '192.0.2.1'],
    ['one that is no address', 1, '6.6.6.6, unknown', '192.0.2.1'],
    ['an empty right-most one', 1, '6.6.6.6,', '192.0.2.1'],
    ['one that is no address behind two', 2, '6.6.6.6, unknown, 203.0.113.9', '203.0.113.9'],
  ])('HI-03: X-Forwarded-For with %s', (_, proxies, header, address) => {
    expect(clientAddress(from('192.0.2.1', { 'x-forwarded-for': header }), { proxies })).toBe(address)
  })

  test('HI-03: two header lines are read as one list', () => {
    expect(clientAddress(from('192.0.2.1', { 'x-forwarded-for': ['6.6.6.6', '203.0.113.9'] }), { proxies: 1 })).toBe('203.0.113.9')
  })

  test.each([
    ['for=203.0.113.9', '203.0.113.9'],
    ['for=6.6.6.6, For="203.0.113.9:80";proto=https;by=10.0.0.1', '203.0.113.9'],
    ['by=10.0.0.1;for="[2001:db8::1]:443"', '2001:db8:0:0::/64'],
    ['for="left open, for=203.0.113.9', '203.0.113.9'],
    ['for=_hidden', '192.0.2.1'],
    ['proto=https', '192.0.2.1'],
  ])('Forwarded: %s', (forwarded, address) => {
    expect(clientAddress(from('192.0.2.1', { forwarded, 'x-forwarded-for': '6.6.6.6' }), { proxies: 1, forwardedBy: 'forwarded' })).toBe(address)
  })

  test('is undefined on a Unix socket, never a shared "undefined"', () => {
    expect(clientAddress(from(undefined))).toBeUndefined()
  })

  test('whatever the client writes to the left changes nothing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom('x-forwarded-for', 'forwarded'), (forged, forwardedBy) => {
      const entry = forwardedBy === 'forwarded' ? 'for=203.0.113.9' : '203.0.113.9'
      return clientAddress(from('192.0.2.1', { [forwardedBy]: `${forged}, ${entry}` }), { proxies: 1, forwardedBy: forwardedBy as 'forwarded' }) === '203.0.113.9'
    }), { seed: 7239 })
  })

  test.each([{ proxies: -1 }, { proxies: 1.5 }, { proxies: Infinity }, { ipv6Prefix: 0 }, { ipv6Prefix: 129 }, { forwardedBy: 'x-real-ip' }])(
    'G13: %j is refused', (options) => {
      expect(() => clientAddress(from('192.0.2.1'), options as object)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION' }))
    })
})

describe('a joined key', () => {
  // https://github.com/better-auth/better-auth/pull/7300
  test.each([
    [['1.2.3.4', '5/x'], ['1.2.3.45', '/x']],
    [['a', 'bc'], ['ab', 'c']],
    [['a:b', 'c'], ['a', 'b:c']],
    [['user', '127.0.0.1'], ['address', '127.0.0.1']],
    [['', 'a'], ['a', '']],
    [['1:a'], ['a']],
  ] as [[string], [string]][])('KY-02: %j is not %j', (one, other) => {
    expect(joinKey(...one)).not.toBe(joinKey(...other))
  })

  test('KY-02: is one key for one list of parts alone', () => {
    const parts = fc.array(fc.string({ unit: fc.constantFrom('1', '2', ':', 'a') }), { minLength: 1, maxLength: 4 })
    fc.assert(fc.property(parts, parts, (one, other) =>
      (joinKey(...(one as [string])) === joinKey(...(other as [string]))) === (JSON.stringify(one) === JSON.stringify(other))), { seed: 2 })
  })

  test('KY-05: takes strings alone', () => {
    expect(() => joinKey('user', undefined as unknown as string)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_KEY' }))
  })
})
