/**
 * Counters without contention: a cache line for each attached thread.
 *
 * The first 64 tickets own their line, so counting is a plain increment that nobody else writes; later tickets
 * share the other 64 lines by atomic additions. Workers may come and go for ever: nothing is used up, and the
 * counts of a thread that is gone stay in its line. Sums may be outdated on return.
 */
import type { Arena } from './arena.ts'
import { EXCLUSIVE_LINES, LINE_BYTES, TALLY, TALLY_LINES, TALLY_OFFSET } from './layout.ts'

export type Counter = keyof typeof TALLY

export class Tally {
  private readonly cells: Int32Array
  private readonly line: number
  private readonly owned: boolean

  constructor(arena: Arena, ticket: number) {
    this.cells = arena.cells
    this.owned = ticket < EXCLUSIVE_LINES
    const line = this.owned ? ticket : EXCLUSIVE_LINES + (ticket % (TALLY_LINES - EXCLUSIVE_LINES))
    this.line = (TALLY_OFFSET + line * LINE_BYTES) / 4
  }

  /** Adds 1 to the counter at `offset`, one of the offsets of `TALLY`. */
  count(offset: number): void {
    const at = this.line + offset
    if (!this.owned) this.countShared(at)
    else if ((this.cells[at] = (this.cells[at]! + 1) | 0) === 0) this.cells[at + 1]!++
  }

  private countShared(at: number): void {
    if (Atomics.add(this.cells, at, 1) === -1) Atomics.add(this.cells, at + 1, 1)
  }

  /** The sum of one counter over all threads, past ones too. */
  static sum({ cells }: Arena, counter: Counter): number {
    let sum = 0
    for (let line = 0; line < TALLY_LINES; line++) {
      const at = (TALLY_OFFSET + line * LINE_BYTES) / 4 + TALLY[counter]
      sum += (Atomics.load(cells, at) >>> 0) + Atomics.load(cells, at + 1) * 2 ** 32
    }
    return sum
  }
}
