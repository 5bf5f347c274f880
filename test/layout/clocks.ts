/** The buffers of clocks that travel. */
import { MISSED_TICKS, MOST_AT_ONE_TIME } from '../../src/clock/ticks.ts'
import { SharedClock } from '../../src/index.ts'
import { TickCell } from '../../src/memory/tick-cell.ts'
import type { Document } from '../document.ts'
import type { Findings } from './findings.ts'

export function clocks(page: Document, findings: Findings): void {
  const unit = page.number(/signed, in units of 1\/(\d+) ms/)
  const shared = new SharedClock(-5.5).handle.buffer
  findings.same('bytes of a SharedClock', page.number(/that word alone, (\d+) bytes/), shared.byteLength)
  findings.same('time of a SharedClock', Number(new BigInt64Array(shared)[0]) / unit, -5.5)
  const cell = new TickCell(7)
  cell.raise(5.5)
  findings.same('bytes of a CoarseClock', page.number(/`CoarseClock` is (\d+) bytes/), cell.buffer.byteLength)
  findings.same('intervals missed', page.number(/finds it (\d+) intervals late/), MISSED_TICKS)
  findings.same('readings at one time', page.number(/at most (\d+) times, which is late/), MOST_AT_ONE_TIME)
  const view = new DataView(cell.buffer)
  const read = { i64: (byte: number) => Number(view.getBigInt64(byte, true)) / unit, f64: (byte: number) => view.getFloat64(byte, true) }
  const rows = page.table(['byte in clock', 'type', 'holds'], ['byte in clock', 'type'])
  const held = rows.map((row) => read[row.type as keyof typeof read](Number(row['byte in clock'])))
  findings.same('cells of a CoarseClock', held.join(), [5.5, 5.5, 7].join())
}
