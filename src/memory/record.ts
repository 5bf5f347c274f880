/**
 * A record of a ring, as a word:
 *
 *   63  61 60   58 57 56 55      46 45                           0
 *   gen    epoch   lap    cost          time + 1; the whole word 0: none
 *
 * `read` takes a word apart into this thread's private one; the other functions tell of the record read last.
 */
import * as log from '../arithmetic/sliding-window-log.ts'
import * as word from './word.ts'

// Held here: see cas.ts.
const { RECORD_EPOCHS, TIME_BITS } = log
const { generationOf } = word

const TIME_HI_BITS = TIME_BITS - 32
const TIME_HI_MASK = (1 << TIME_HI_BITS) - 1
const COST_MASK = 0x3ff
const TAG_SHIFT = TIME_HI_BITS + 10
const LAP_MASK = 3
const EPOCH_SHIFT = 2
const EPOCH_MASK = RECORD_EPOCHS - 1
const TWO_32 = 4_294_967_296

/** What a cleared cell keeps, besides a time: see `clearedTo`. */
export const NOTHING = -1
export const ITS_TIME = -2

const bytes = new ArrayBuffer(8)
const asBig = new BigInt64Array(bytes)
const asInt = new Int32Array(bytes)

/** Reads a record. */
export function read(record: bigint): void {
  asBig[0] = record
}

/** True when the record read last bears `tag`. */
export function bears(tag: number): boolean {
  return asInt[1]! >>> TAG_SHIFT === tag
}

/** True when the record read last bears `tag` in all but the epoch. */
export function bearsButEpoch(tag: number): boolean {
  return (((asInt[1]! >>> TAG_SHIFT) ^ tag) & ~(EPOCH_MASK << EPOCH_SHIFT)) === 0
}

/** The epoch of the record read last. */
export function epochRead(): number {
  return (asInt[1]! >>> (TAG_SHIFT + EPOCH_SHIFT)) & EPOCH_MASK
}

/** The time of the record read last; -1 for none. */
export function timeRead(): number {
  return (asInt[1]! & TIME_HI_MASK) * TWO_32 + (asInt[0]! >>> 0) - 1
}

/** The units of the record read last. */
export function costRead(): number {
  return (asInt[1]! >>> TIME_HI_BITS) & COST_MASK
}

/** What stays of `old` where it is cleared: a record of no units, of `time`, of the time that was there (ITS_TIME), or NOTHING. */
export function clearedTo(old: bigint, time: number, tag: number): bigint {
  if (time === NOTHING) return 0n
  if (time !== ITS_TIME) return recordOf(tag, 0, time)
  asBig[0] = old
  asInt[1] = asInt[1]! & ~(COST_MASK << TIME_HI_BITS)
  return asBig[0]
}

/** A record from its parts. */
export function recordOf(tag: number, cost: number, time: number): bigint {
  const stored = time + 1
  asInt[0] = stored | 0
  asInt[1] = (tag << TAG_SHIFT) | (cost << TIME_HI_BITS) | (stored / TWO_32)
  return asBig[0]!
}

/** Generation, epoch and lap of a record. */
export function tagOf(hi: number, epoch: number, lap: number): number {
  return ((generationOf(hi) & 7) << 5) | ((epoch & EPOCH_MASK) << EPOCH_SHIFT) | (lap & LAP_MASK)
}
