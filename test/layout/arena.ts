/** The arena as a whole: header, regions, policy entries, tally lines, sizes. */
import { RateLimiter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import * as layout from '../../src/memory/layout.ts'
import type { Document } from '../document.ts'
import type { Findings } from './findings.ts'

export function headerAndRegions(page: Document, findings: Findings): void {
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
  const said = page.say(/bits (\d+)\.\.(\d+) algorithm id, (\d+)\.\.(\d+) tier, (\d+)\.\.(\d+) part, (\d+)\.\.(\d+) times written/).map(Number)
  const widths = [0, 2, 4, 6].map((at) => said[at]! - said[at + 1]! + 1)
  findings.same('what an entry is', widths.join(), Object.values(layout.ENTRY_BITS).join())
  findings.same('where its fields begin', [1, 3, 5, 7].map((at) => said[at]).join(), widths.map((_, at) => widths.slice(0, at).reduce((sum, bits) => sum + bits, 0)).join())
  const tally = page.table(['byte in line', 'counter']).map((row) => `${row.counter} ${row['byte in line']}`)
  findings.same('tally line', tally.join(), Object.entries(layout.TALLY).map(([name, cell]) => `${name} ${cell * 4}`).join())
  findings.same('owned lines', page.say(/ticket below (\d+) owns[^.]*\. A later ticket shares line (\d+) \+ ticket mod (\d+)/).join(), '64,64,64')
  findings.same('owned lines', layout.EXCLUSIVE_LINES, 64)
  for (const each of [page.number(/tally line below (\d+)/), page.number(/tally line from (\d+)/)]) findings.same('owned lines', each, layout.EXCLUSIVE_LINES)
}

export function sizes(page: Document, findings: Findings): void {
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
    const policy = ringSize === 0 ? tokenBucket({ limit: 1, periodMs: 1 }) : slidingWindowLog({ limit: ringSize - 1, windowMs: 1 })
    const { bytes, capacity } = new RateLimiter({ policy, maxKeys, sync: mutex ? 'mutex' : 'cas' }).stats()
    findings.same(`live arena for ${maxKeys}`, `${row.slots} ${row.bytes}`, `${capacity} ${bytes}`)
  }
}
