/** Slots, states, identities, ring records and locks, bit by bit. */
import { RateLimiter, SharedClock, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { VALUE_BITS } from '../../src/arithmetic/algorithm.ts'
import { HEADS, MAX_LOG_LIMIT } from '../../src/arithmetic/sliding-window-log.ts'
import { Hasher } from '../../src/memory/hasher.ts'
import * as layout from '../../src/memory/layout.ts'
import { CHARGE, GONE, REFUND } from '../../src/memory/record.ts'
import * as word from '../../src/memory/word.ts'
import type { Document, Row } from '../document.ts'
import type { Findings } from './findings.ts'

/** The bits `from..to` of a word. */
function field(value: bigint, bits: string): number {
  const [high, low] = bits.split('..').map(Number) as [number, number]
  return Number((BigInt.asUintN(64, value) >> BigInt(low)) & ((1n << BigInt(high - low + 1)) - 1n))
}

/** Ranges that fill a word without a gap, high to low. */
function ranges(findings: Findings, rows: readonly Row[]): string[] {
  let next = 63
  for (const { bits, field: name } of rows) {
    const [high, low] = bits!.split('..').map(Number) as [number, number]
    findings.same(`first bit of ${name}`, high, next)
    next = low - 1
  }
  findings.same('the last bit', next, -1)
  return rows.map(({ bits }) => bits!)
}

export function words(page: Document, findings: Findings): void {
  const [slotRows, ringRows] = page.tables(['bits', 'field', 'holds'], ['bits', 'field']) as [Row[], Row[]]
  const [generation, policy, phase, value] = ranges(findings, slotRows) as [string, string, string, string]
  const sample = word.wordOf(word.hiFrom(0x55, 0x2a, word.TENTATIVE), 0x1_5555_5555_5555)
  const fields = [generation, policy, phase, value].map((bits) => field(sample, bits))
  findings.same('fields of a state', fields.join(), [0x55, 0x2a, word.TENTATIVE, 0x1_5555_5555_5555].join())
  const phases = page.say(/phase \| (\d) free, (\d) tentative, (\d) committed/).join()
  findings.same('phases', phases, [word.FREE, word.TENTATIVE, word.COMMITTED].join())
  const boxes = [...page.text.matchAll(/^bit +([\d ]+)$/gm)].map(([, numbers]) => numbers!.trim().split(/ +/).join())
  const inBoxes = [slotRows, ringRows].map((rows) => rows.flatMap(({ bits }) => bits!.split('..')).join())
  findings.same('bits in the boxes', boxes.join(' and '), inBoxes.join(' and '))
  page.say(/^bit +(\d+) +(\d+) (\d+) +(\d+) (\d+) +(\d+) (\d+) +(\d+)\n/m)
  page.say(/^bit +(\d+) +(\d+) (\d+) (\d+) (\d+) +(\d+) (\d+) +(\d+)\n/m)
  findings.same('offsets in a slot', page.say(/^byte +(\d+) +(\d+) +(\d+) +(\d+)\n/m).join(), [0, 4 * layout.SLOT_IDENTITY0, 4 * layout.SLOT_IDENTITY1, layout.SLOT_BYTES].join())
  findings.same('stride', page.number(/the (\d+) bytes from one slot/), layout.SLOT_BYTES)
  findings.same('unit of a claim', page.number(/in (\d+)ths of a millisecond/), word.CLAIM_UNITS_PER_MS)
  findings.same('unit of a claim', page.number(/the tick of the claim, 1\/(\d+) ms/), word.CLAIM_UNITS_PER_MS)
  const generations = 2 ** (64 - Number(generation.split('..')[1]))
  for (const pattern of [/claims of a slot, modulo (\d+)/, /claims of this slot, modulo (\d+)/, /comes round after (\d+) claims/]) findings.same('generations', page.number(pattern), generations)
  records(page, findings, ringRows)
  masks(page, findings)
}

/** The records of a live log, read by the page's bits. */
function records(page: Document, findings: Findings, rows: readonly Row[]): void {
  const bits = ranges(findings, rows)
  const clock = new SharedClock(5_000)
  const limiter = new RateLimiter({ policy: slidingWindowLog({ limit: 3, windowMs: 4_000 }), maxKeys: 1, clock })
  const read = (place: number) => bits.map((each) => field(new BigInt64Array(limiter.handle.buffer)[(layout.SLOTS_OFFSET + layout.SLOT_BYTES) / 8 + place]!, each)).join()
  clock.set(7_000)
  limiter.allow('k', 2)
  findings.same('the first record', '2,1,1026,2000001', read(0))
  limiter.refund('k')
  findings.same('a refund', '1,0,1,2000001', read(2))
  limiter.refund('k')
  findings.same('a unit given back', '0,0,1027,2000001', read(0))
  limiter.allow('k', 3)
  findings.same('a record over it', '2,1,2051,2000001', read(0))
  clock.set(12_000)
  limiter.allow('k', 1)
  limiter.allow('k', 1)
  findings.same('a record one lap on', '3,0,0,7000001', read(0))
  const kinds = page.say(/kind \| (\d) gone, (\d) refund, (\d) charge in an even lap, (\d) charge in an odd lap/).join()
  findings.same('kinds', kinds, [GONE, REFUND, CHARGE, CHARGE + 1].join())
  const numberBits = page.number(/with `many` the next whose low (\d+) bits are 0/)
  findings.same('bits of a number', page.number(/where the low (\d+) bits of the tag are a number of units/), numberBits)
  findings.same('most units of a record', 2 ** numberBits - 1, MAX_LOG_LIMIT)
  const [high, low] = bits[2]!.split('..').map(Number) as [number, number]
  const tags = 2 ** (high - low + 1)
  findings.same('tags', page.say(/written (\d+) times within one microsecond of the clock, or (\d+) times/).join(), [tags, tags / 2 ** numberBits].join())
  findings.same('heads', page.number(/`version × (\d+) \+ head`/), HEADS)
  findings.same('versions', page.number(/the time of the claim modulo 2\^(\d+)/), VALUE_BITS - Math.log2(HEADS))
}

function masks(page: Document, findings: Findings): void {
  const multiplier = parseInt(page.say(/\(generation \+ 1\) × 0x([0-9a-f]{8})/)[0]!, 16)
  const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1 }), maxKeys: 1, clock: new SharedClock(0) })
  limiter.allow('any key')
  const cells = new Int32Array(limiter.handle.buffer)
  const hash = { h0: 0, h1: 0 }
  new Hasher(cells[layout.HEADER.seed0]!, cells[layout.HEADER.seed1]!).hash(0, 'any key', hash)
  const mask = Math.imul(2, multiplier)
  findings.same('identity0', mask ^ hash.h0, cells[layout.SLOTS_OFFSET / 4 + layout.SLOT_IDENTITY0])
  findings.same('identity1', mask ^ hash.h1, cells[layout.SLOTS_OFFSET / 4 + layout.SLOT_IDENTITY1])
}

export function locks(page: Document, findings: Findings): void {
  const [top, low] = page.say(/Bits (\d+)\.\.(\d+) are ticket \+ 1/).map(Number) as [number, number]
  findings.same('top bit of a lock', top, 31)
  const policy = tokenBucket({ limit: 5, periodMs: 1_000 })
  const limiter = new RateLimiter({ policy, maxKeys: 1, sync: 'mutex', lockTimeoutMs: 0, clock: new SharedClock(0) })
  limiter.allow('k')
  const cells = new Int32Array(limiter.handle.buffer)
  const lock = cells.length - 1
  // A holder that is gone: the ninth attachment, as the page writes it.
  cells[lock] = 9 << low
  limiter.allow('k')
  findings.same('taken over from a dead holder', limiter.stats().lockTimeouts, 1)
  findings.same('then let go', cells[lock], 0)
  findings.same('low bit of a lock', low, 1)
}
