/** Whose request it is: the client's address, as a key. Pure. */
import { isIPv4, isIPv6 } from 'node:net'
import { outOfRange } from '../errors.ts'

/** How far to believe what a request says about its sender. */
export interface AddressOptions {
  /**
   * How many proxies of yours stand before this server, 0 to 100; 0 by default: forwarding headers are then not read
   * at all. Each proxy appends the address it saw, so that with one the right-most entry is the client's; entries
   * further left are the client's own words.
   */
  readonly proxies?: number
  /** The header that your proxies append to; `'x-forwarded-for'` by default. Only this one is read. */
  readonly forwardedBy?: 'x-forwarded-for' | 'forwarded'
  /** Bits of an IPv6 address that make one client, 1 to 128; 64 by default, since one customer owns at least a /64. */
  readonly ipv6Prefix?: number
}

/** The options, each checked and with its default. */
export interface AddressRules {
  readonly proxies: number
  readonly forwardedBy: 'x-forwarded-for' | 'forwarded'
  readonly ipv6Prefix: number
}

/** What the address is read from: a request of node:http, Express, Connect or Fastify; in Hono `c.env.incoming`. */
export interface AddressSource {
  readonly socket?: { readonly remoteAddress?: string | undefined } | null | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
}

function whole(field: string, value: unknown, least: number, most: number, byDefault: number): number {
  if (value === undefined) return byDefault
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw outOfRange('ERR_HOTBUCKET_OPTION', field, value, `a whole number from ${least} to ${most}`)
}

/** Throws `RangeError` ERR_HOTBUCKET_OPTION. */
export function addressRules(options: AddressOptions = {}): AddressRules {
  const forwardedBy = options.forwardedBy ?? 'x-forwarded-for'
  if (forwardedBy !== 'x-forwarded-for' && forwardedBy !== 'forwarded') {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'forwardedBy', forwardedBy, `'x-forwarded-for' or 'forwarded'`)
  }
  return {
    proxies: whole('proxies', options.proxies, 0, 100, 0),
    forwardedBy,
    ipv6Prefix: whole('ipv6Prefix', options.ipv6Prefix, 1, 128, 64),
  }
}

/** The eight 16-bit groups of an address that `isIPv6` accepts and that has no zone. */
function groupsOf(address: string): number[] {
  const dotted = address.includes('.') ? address.lastIndexOf(':') + 1 : address.length
  const bytes = address.slice(dotted).split('.').map(Number)
  const embedded = bytes.length === 4 ? [bytes[0]! * 256 + bytes[1]!, bytes[2]! * 256 + bytes[3]!] : []
  const [left, right] = address.slice(0, dotted).split('::')
  const parse = (part: string | undefined): number[] =>
    (part ?? '').split(':').filter((group) => group !== '').map((group) => Number.parseInt(group, 16))
  const head = parse(left)
  const tail = [...parse(right), ...embedded]
  return right === undefined ? [...head, ...tail] : [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** An IPv6 address cut to its prefix, in one spelling: `2001:db8:1:1::/64`. */
function networkOf(groups: readonly number[], prefix: number): string {
  const kept = Math.ceil(prefix / 16)
  const spare = kept * 16 - prefix
  const shown = groups.slice(0, kept).map((group, at) => (at === kept - 1 ? (group >> spare) << spare : group).toString(16))
  return `${shown.join(':')}${kept < 8 ? '::' : ''}/${prefix}`
}

/**
 * One address in the one spelling that serves as a key, or undefined where `text` is none: IPv4 as it is, IPv4-mapped
 * IPv6 as IPv4, other IPv6 cut to the prefix. Ports, brackets, quotes and zone ids are dropped.
 */
export function canonicalAddress(text: string, ipv6Prefix = 64): string | undefined {
  const bare = text.trim().replace(/^"(.*)"$/, '$1')
  const inside = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(bare)?.[1] ?? bare.replace(/^([\d.]+):\d{1,5}$/, '$1')
  const address = inside.replace(/%.*$/s, '')
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return undefined
  const groups = groupsOf(address)
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return networkOf(groups, ipv6Prefix)
  return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.')
}

/** The node that one element of `Forwarded` (RFC 7239) is for. */
function nodeOf(element: string): string {
  return /(?:^|;)\s*for\s*=\s*([^;]*)/i.exec(element)?.[1] ?? ''
}

/**
 * The client's address by the rules, or undefined where there is none to be had.
 *
 * Where the trusted entry is missing or is no address, the nearest hop that has one stands in for it, so that what
 * cannot be read shares the proxy's own bucket and never gets a fresh one.
 */
export function addressBy(rules: AddressRules, remote: string | undefined, forwarded: string): string | undefined {
  // Split at commas alone: no address contains one, and a quote the client left open must not swallow a proxy's entry.
  const entries = rules.proxies === 0 || forwarded === '' ? [] : forwarded.split(',').slice(-rules.proxies)
  for (const entry of entries) {
    const node = rules.forwardedBy === 'forwarded' ? nodeOf(entry) : entry
    const address = canonicalAddress(node, rules.ipv6Prefix)
    if (address !== undefined) return address
  }
  return remote === undefined ? undefined : canonicalAddress(remote, rules.ipv6Prefix)
}

/** `addressBy` for a request. */
export function addressOfRequest(rules: AddressRules, request: AddressSource): string | undefined {
  const header = rules.proxies === 0 ? undefined : request.headers[rules.forwardedBy]
  return addressBy(rules, request.socket?.remoteAddress, typeof header === 'string' ? header : (header ?? []).join(','))
}

/**
 * The client's address as a key: for key functions that fall back on it. Undefined where the request has none, as on
 * a Unix socket. Throws `RangeError` ERR_HOTBUCKET_OPTION. Pure.
 */
export function clientAddress(request: AddressSource, options?: AddressOptions): string | undefined {
  return addressOfRequest(addressRules(options), request)
}
