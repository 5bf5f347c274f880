/** What `native-layout.md` says that the code does not: every claim that can be checked, as a function of the page's text. */
import { readFileSync, readdirSync } from 'node:fs'
import type { Policy } from '../src/index.ts'
import * as hotbucket from '../src/index.ts'
import { RateLimiter, SharedClock, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { MAX_VALUE, MIN_HORIZON_MS } from '../src/arithmetic/algorithm.ts'
import { algorithmById, termsOf } from '../src/arithmetic/compile.ts'
import { MAX_LOG_LIMIT } from '../src/arithmetic/sliding-window-log.ts'
import { Hasher } from '../src/memory/hasher.ts'
import * as layout from '../src/memory/layout.ts'
import * as word from '../src/memory/word.ts'
import type { Row } from './document.ts'
import { Document } from './document.ts'

const memory = new URL('../src/memory/', import.meta.url)
const sources = readdirSync(memory).map((name) => readFileSync(new URL(name, memory), 'utf8')).join('\n')
const YEAR_MS = 365.25 * 86_400_000

/** A constant that its module keeps to itself, read off its source. */
function constant(name: string): number {
  const [, base, shift] = new RegExp(`const ${name} = (\\d+)(?: << (\\d+))?$`, 'm').exec(sources) ?? []
  return Number(base) * 2 ** Number(shift ?? 0)
}

/** What is said and what is so, where they differ. */
class Findings {
  readonly found: string[] = []

  same(what: string, said: unknown, is: unknown): void {
    if (!Object.is(said, is)) this.found.push(`${what}: the page says ${String(said)}, the code ${String(is)}`)
  }

  /** Runs a check; one that throws has found something too. */
  run(check: Check, page: Document): void {
    try {
      check(page, this)
    } catch (error) {
      this.found.push(String(error))
    }
  }
}

function policyFrom(code: string): Policy {
  return new Function('hotbucket', `return hotbucket.${code}`)(hotbucket) as Policy
}

/** The bits `from..to` of a word. */
function field(value: bigint, bits: string): number {
  const [high, low] = bits.split('..').map(Number) as [number, number]
  return Number((BigInt.asUintN(64, value) >> BigInt(low)) & ((1n << BigInt(high - low + 1)) - 1n))
}

function headerAndRegions(page: Document, findings: Findings): void {
  findings.same('layout version', page.number(/Layout version: `(\d+)`/), layout.LAYOUT_VERSION)
  const header = page.table(['byte', 'cell', 'name', 'holds'], ['byte', 'cell'])
  const cells: Record<string, number> = { ...layout.HEADER, bornMs: layout.BORN_MS_F64 * 2 }
  findings.same('header names', header.map(({ name }) => name).join(), Object.keys(cells).sort((a, b) => cells[a]! - cells[b]!).join())
  for (const { name, byte, cell } of header) {
    findings.same(`cell of ${name}`, Number(cell), cells[name!])
    findings.same(`byte of ${name}`, Number(byte), cells[name!]! * 4)
  }
  findings.same('magic', parseInt(page.say(/0x([0-9a-f]{8}), the bytes `hotb`/)[0]!, 16), layout.MAGIC)
  findings.same('greatest maxKeys', page.number(/as asked for, 1 to (\d+)/), layout.MAX_KEYS)
  findings.same('most tiers', page.number(/`tierCount` \| 1 to (\d+)/), layout.MAX_TIERS)
  const regions = page.table(['region', 'first byte', 'count', 'bytes each']).map((row) => Object.values(row).join())
  const wanted = [
    ['tier map', layout.TIER_MAP * 4, layout.MAX_TIERS, 4],
    ['policy table', layout.POLICY_OFFSET, layout.POLICY_COUNT, layout.POLICY_BYTES],
    ['tally lines', layout.TALLY_OFFSET, layout.TALLY_LINES, layout.LINE_BYTES],
    ['slots', layout.SLOTS_OFFSET, 'bins × ways', layout.SLOT_BYTES],
  ]
  wanted.forEach((row, at) => findings.same(String(row[0]), regions[at], row.join()))
  const map = page.say(/byte +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)\n/).join()
  findings.same('the map', map, [0, ...wanted.map((row) => row[1])].join())
  const boxes = page.say(/│ (\d+) × (\d+) +│ (\d+) × (\d+) +│ (\d+) each +│ (\d+) × ringSize│ (\d+) a slot/).map(Number)
  findings.same('sizes in the map', boxes.join(), [64, 32, 128, 64, layout.SLOT_BYTES, 8, 4].join())
  findings.same('tier map in the map', page.say(/│ (\d+) × (\d+)  │ +│ +│ +│ a slot/).join(), `${layout.MAX_TIERS},4`)
  const entry = page.table(['byte in entry', 'type', 'holds'], ['byte in entry', 'type']).map(({ type, ...row }) => `${row['byte in entry']} ${type}`)
  const { limit, periodMs, burst } = layout.POLICY_FIELDS
  findings.same('policy entry', entry.join(), ['0 i32', '4 i32', ...[limit, periodMs, burst].map((at) => `${8 * at} f64`)].join())
  const tally = page.table(['byte in line', 'counter']).map((row) => `${row.counter} ${row['byte in line']}`)
  findings.same('tally line', tally.join(), Object.entries(layout.TALLY).map(([name, cell]) => `${name} ${cell * 4}`).join())
  findings.same('owned lines', page.say(/ticket below (\d+) owns[^.]*\. A later ticket shares line (\d+) \+ ticket mod (\d+)/).join(), '64,64,64')
  findings.same('owned lines', layout.EXCLUSIVE_LINES, 64)
  for (const each of [page.number(/tally line below (\d+)/), page.number(/tally line from (\d+)/)]) findings.same('owned lines', each, layout.EXCLUSIVE_LINES)
}

function sizes(page: Document, findings: Findings): void {
  const [few, one, keys] = page.say(/ways {2}= min\(maxKeys, 8\)\n *bins {2}= maxKeys <= (\d+) \? (\d+) : ceil\(maxKeys \/ (\d+)\)/).map(Number) as [number, number, number]
  findings.same('ways', page.number(/ways {2}= min\(maxKeys, (\d+)\)/), layout.WAYS)
  const [start, slot, record, lock] = page.say(/bytes = (\d+) \+ bins × ways × \((\d+) \+ (\d+) × ringSize \+ \(mutex \? (\d+) : 0\)\)/).map(Number) as [number, number, number, number]
  for (const row of page.table(['maxKeys', 'sync', 'ringSize', 'slots', 'bytes'])) {
    const [maxKeys, ringSize, mutex] = [Number(row.maxKeys), Number(row.ringSize), row.sync === 'mutex']
    const slots = (maxKeys <= few ? one : Math.ceil(maxKeys / keys)) * Math.min(maxKeys, layout.WAYS)
    findings.same(`slots for ${maxKeys}`, Number(row.slots), slots)
    findings.same(`bytes for ${maxKeys}`, Number(row.bytes), start + slots * (slot + record * ringSize + (mutex ? lock : 0)))
    findings.same(`bytes for ${maxKeys}`, Number(row.bytes), layout.arenaBytes(maxKeys, mutex, ringSize))
    // Megabytes need not be made for every misprint.
    if (slots > 1_000) continue
    const policy = ringSize === 0 ? tokenBucket({ limit: 1, periodMs: 1 }) : slidingWindowLog({ limit: ringSize, windowMs: 1 })
    const { bytes, capacity } = new RateLimiter({ policy, maxKeys, sync: mutex ? 'mutex' : 'cas' }).stats()
    findings.same(`live arena for ${maxKeys}`, `${row.slots} ${row.bytes}`, `${capacity} ${bytes}`)
  }
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

function words(page: Document, findings: Findings): void {
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
  page.say(/^bit +(\d+) +(\d+) (\d+) +(\d+) (\d+) +(\d+) (\d+) +(\d+) (\d+) +(\d+)\n/m)
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
  findings.same('the first record', '1,0,0,2,1500001', read(0))
  limiter.refund('k')
  limiter.refund('k')
  limiter.allow('k', 3)
  findings.same('a record after two refunds', '1,2,0,3,1500001', read(0))
  clock.set(12_000)
  limiter.allow('k', 1)
  findings.same('a record one lap on', '1,2,1,1,5250001', read(0))
  findings.same('most units of a record', 2 ** (Number(bits[3]!.split('..')[0]) - Number(bits[3]!.split('..')[1]) + 1) - 1, MAX_LOG_LIMIT)
  page.say(/generation modulo (\d)\b/).forEach((said) => findings.same('generations of a record', Number(said), 8))
  page.say(/modulo (\d) \|\n\| 56/).forEach((said) => findings.same('laps', Number(said), 4))
  findings.same('tag of a record', page.say(/tag is shorter, (\d) generations and (\d) refunds/).join(), '8,4')
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

function locks(page: Document, findings: Findings): void {
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

function algorithms(page: Document, findings: Findings): void {
  for (const { id, algorithm } of page.table(['id', 'algorithm', 'value', 'full when'], ['id'])) findings.same(`algorithm ${id}`, algorithm, algorithmById(Number(id))?.name)
  const outcome = ['units a ms', 'units a token', 'horizon, years']
  for (const { policy, ...said } of page.table(['policy', ...outcome], outcome)) {
    const [terms] = termsOf(policyFrom(policy!), 0) as [ReturnType<typeof termsOf>[number]]
    const years = (terms.horizonMs / YEAR_MS).toFixed(1)
    findings.same(policy!, Object.values(said).join(), [terms.unitsPerRefill, terms.unitsPerToken, years].join())
  }
  const steepest = Math.floor(MAX_VALUE / MIN_HORIZON_MS)
  for (const pattern of [/`l × k` exceeds (\d+)/, /terms, is at most\n(\d+)/, /Beyond (\d+)/, /steeper than (\d+)/]) findings.same('the steepest line', page.number(pattern), steepest)
  findings.same('the least horizon', page.number(/\(limit \+ 1\) \/ (\d+)\)\)/), MIN_HORIZON_MS)
  for (const pattern of [/cannot hold for (\d+) days/, /less than (\d+) days/]) findings.same('the least horizon, days', page.number(pattern), MIN_HORIZON_MS / 86_400_000)
  const burst = page.number(/1 a second admits a burst up to (\d+)/)
  tokenBucket({ limit: 1, periodMs: 1_000, burst })
  let [above, refused] = [burst + 1, false]
  try {
    tokenBucket({ limit: 1, periodMs: 1_000, burst: above })
  } catch {
    refused = true
  }
  findings.same(`a burst of ${above}`, refused, true)
}

function limits(page: Document, findings: Findings): void {
  findings.same('turns', page.number(/loses (\d+) turns in a row/), constant('MOST_TURNS'))
  findings.same('rounds', page.number(/begins anew (\d+) times/), constant('MOST_ROUNDS'))
  findings.same('cached places', page.say(/holds (\d+) places of keys up to (\d+) code units/).join(), `${constant('ENTRIES')},${constant('LONGEST_KEY')}`)
  findings.same('parts', page.number(/so (\d+) parts are the most/), layout.POLICY_COUNT - 1)
  findings.same('policy entries', page.say(/Of the (\d+) policy entries[^.]*in turn, (\d+) changes later/).join(), `${layout.POLICY_COUNT},${layout.POLICY_COUNT - 1}`)
  const [hourly] = termsOf(tokenBucket({ limit: 5_000, periodMs: 3_600_000 }), 0)
  findings.same('why 64 bits', page.say(/is (\d+) units a token when a unit is a microsecond, so the TAT leads by up to (\d+), which\ntakes (\d+) bits/).join(), [hourly!.unitsPerToken, hourly!.ceiling, Math.ceil(Math.log2(hourly!.ceiling))].join())
  findings.same('in millionths', page.number(/needs more, (\d+)\./), 5_000 * 1_000_000)
  const [fast, slow] = page.say(/one token: (\d+) ms at 1,000 a\nsecond, ([\d.]+) minutes at 10 a minute/).map(Number)
  findings.same('the quickest round, fast', fast, 128 * (1_000 / 1_000))
  findings.same('the quickest round, slow', slow, (128 * (60 / 10)) / 60)
  findings.same('up to', page.say(/Up to (\d): exactly/)[0], String(layout.WAYS))
  findings.same('slots a key', page.say(/Above \d: (\d\/\d) slots a key/)[0], `${layout.WAYS}/${layout.KEYS_PER_BUCKET}`)
  findings.same('the load', page.say(/loaded to (\d\/\d)/)[0], `${layout.KEYS_PER_BUCKET}/${layout.WAYS}`)
}

const EXAMPLE = ['ms', 'call', 'answer', 'state', 'generation', 'policy', 'phase', 'value']

function bytesOf(buffer: ArrayBufferLike, from: number, count = 8): string {
  return [...new Uint8Array(buffer, from, count)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

/** Makes the calls of each worked example and compares every byte. */
function examples(page: Document, findings: Findings): void {
  const policies = [...page.text.matchAll(/^Policy `([^`]+)`/gm)].map(([, code]) => policyFrom(code!))
  // The times are read too, but another time may well give the same answer: no misprint can be told there.
  const told = EXAMPLE.slice(1)
  const log = page.table([...EXAMPLE, 'ring'], [...told, 'ring'])
  const first = page.number(/has one slot, at byte (\d+)/)
  const ring = page.number(/whose ring begins at byte (\d+)/)
  const startMs = page.number(/The clock stands at (\d+) when it is made/)
  const [born] = page.say(/`bornMs` is `([0-9a-f ]+)`/)
  const counter = page.number(/makes the cell at byte (\d+) \(`allowed`, line 0\)/)
  ;[...page.tables(EXAMPLE, told), log].forEach((rows, at) => {
    const clock = new SharedClock(startMs)
    const limiter = new RateLimiter({ policy: policies[at]!, maxKeys: 1, clock })
    const { buffer } = limiter.handle
    findings.same('bornMs', born, bytesOf(buffer, layout.BORN_MS_F64 * 8))
    let claim: Row | undefined
    rows.forEach((row, line) => {
      const said = [row.generation, row.policy, row.phase, row.value].join()
      const state = new DataView(Uint8Array.from(row.state!.split(' '), (byte) => parseInt(byte, 16)).buffer).getBigInt64(0, true)
      const hi = word.hiOf(state)
      findings.same(`${row.state}`, said, [word.generationOf(hi), word.policyIndexOf(hi), word.phaseOf(hi), word.valueOf(state)].join())
      if (row.call!.startsWith('claimed')) return void (claim = row)
      clock.set(Number(row.ms))
      if (claim !== undefined) {
        findings.same('time of the claim', `${claim.ms} ${claim.value}`, `${row.ms} ${(clock.nowMs() - startMs) * word.CLAIM_UNITS_PER_MS}`)
        findings.same('phase of the claim', Number(claim.phase), word.TENTATIVE)
        findings.same('generation of the claim', `${claim.generation} ${claim.policy}`, `${row.generation} ${row.policy}`)
        claim = undefined
      }
      const answer = new Function('limiter', `return limiter.${row.call}`)(limiter) as unknown
      findings.same(`${row.call} of example ${at}, line ${line}`, row.answer, answer === undefined ? '' : String(answer))
      findings.same(`state after ${row.call} of example ${at}, line ${line}`, row.state, bytesOf(buffer, first))
      if (limiter.stats().allowed === 1) findings.same('allowed', new Int32Array(buffer)[counter / 4], 1)
      row.ring?.split('<br>').forEach((record, place) => findings.same(`record ${place} after ${row.call}`, record, bytesOf(buffer, ring + 8 * place)))
    })
  })
  const [bucket] = termsOf(policies[0]!, 0)
  const numbers = page.say(/l \/ p is (\d+) \/ (\d+), k is (\d+), a millisecond is (\d+) units, a token (\d+), the ceiling (\d+)/).join()
  findings.same('the first policy', numbers, [1, 6_000, 167, bucket!.unitsPerRefill, bucket!.unitsPerToken, bucket!.ceiling].join())
}

type Check = (page: Document, findings: Findings) => void

export const checks: readonly Check[] = [headerAndRegions, sizes, words, locks, algorithms, limits, examples]

/** Every difference between the page and the code that `check` finds, and the page as far as it was read. */
export function compared(text: string, check: Check): { found: string[]; page: Document } {
  const findings = new Findings()
  const page = new Document(text)
  findings.run(check, page)
  return { found: findings.found, page }
}
