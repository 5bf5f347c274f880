/**
 * A record of a ring, as a word:
 *
 *   63 62 61   60   45 44                           0
 *   kind  many tag     time + 1; the whole word 0: never written
 *
 * The tag counts what is written in one place at one time. Of a change of several units, or of none, its low 10 bits are
 * their number instead, and `many` is set. `read` takes a word apart into this thread's private one; the other functions tell of the record read last.
 */
import * as log from '../arithmetic/sliding-window-log.ts'

// Held here: see cas.ts.
const { TIME_BITS } = log

/** Kinds. A unit that has left the window; where `many` is set, the closing of a state. */
export const GONE = 0
/** A refund. Once carried out, as GONE. */
export const REFUND = 1
/** A charge, or a further unit of one: in an even lap, and in an odd one. */
export const CHARGE = 2

const TIME_HI_BITS = TIME_BITS - 32
const TIME_HI_MASK = (1 << TIME_HI_BITS) - 1
const TAG_SHIFT = TIME_HI_BITS
const TAGS = 1 << 16
const COSTS = 1 << 10
const MANY = 1 << 29
const KIND_SHIFT = 30
const TWO_32 = 4_294_967_296
/** See word.ts. */
const MIDDLE = 1.5 * 2 ** 52
const BYTES_OF_MIDDLE = 0x4338_0000_0000_0000n
/** By kind: what makes the bytes of `MIDDLE + stored` a record of one unit, its tag 0. */
const ALONE = [0n, 1n, 2n, 3n].map((kind) => BigInt.asIntN(64, (kind << 62n) - BYTES_OF_MIDDLE))

const bytes = new ArrayBuffer(8)
const asBig = new BigInt64Array(bytes)
const asInt = new Int32Array(bytes)
const timeAsBig = new BigInt64Array(1)
const timeAsFloat = new Float64Array(timeAsBig.buffer)

const otherAsBig = new BigInt64Array(2)
const otherAsInt = new Int32Array(otherAsBig.buffer)

/** True when two records are the same: cheaper than `===` between two BigInts. */
export function same(one: bigint, other: bigint): boolean {
  otherAsBig[0] = one
  otherAsBig[1] = other
  return otherAsInt[0] === otherAsInt[2] && otherAsInt[1] === otherAsInt[3]
}

/** Reads a record. */
export function read(record: bigint): void {
  asBig[0] = record
}

/** The kind of the record read last: GONE, REFUND, or CHARGE + 0 or 1. */
export function kindRead(): number {
  return asInt[1]! >>> KIND_SHIFT
}

/** The time of the record read last; -1 for none. */
export function timeRead(): number {
  return (asInt[1]! & TIME_HI_MASK) * TWO_32 + (asInt[0]! >>> 0) - 1
}

/** The number of units of the change read last; a closing bears one too. */
export function costRead(): number {
  return isMany() ? tagRead() & (COSTS - 1) : 1
}

/** True when the record read last bears a number of units. */
export function isMany(): boolean {
  return (asInt[1]! & MANY) !== 0
}

function tagRead(): number {
  return (asInt[1]! >>> TAG_SHIFT) & (TAGS - 1)
}

/**
 * The record to write over the one read last: of `time`, or later where that would not make it greater by time and tag.
 * What a place holds only grows, so it never takes a value again, and an exchange that expects an old one fails.
 */
export function grown(kind: number, cost: number, time: number): bigint {
  return time > timeRead() && cost === 1 ? alone(kind, time) : tagged(kind, cost, time)
}

/** A record of one unit, the first at its time. Of two halves it costs more: see `lastPlus` in word.ts. */
function alone(kind: number, time: number): bigint {
  timeAsFloat[0] = time + (MIDDLE + 1)
  return (asBig[0] = BigInt.asIntN(64, timeAsBig[0]! + ALONE[kind]!))
}

function tagged(kind: number, cost: number, time: number): bigint {
  const before = timeRead()
  const many = cost !== 1
  let tag = 0
  if (time <= before) {
    tag = many ? (tagRead() | (COSTS - 1)) + 1 : tagRead() + 1
    time = before
    if (tag >= TAGS) {
      tag = 0
      time++
    }
  }
  const stored = time + 1
  asInt[0] = stored | 0
  asInt[1] = (kind << KIND_SHIFT) | (many ? MANY | ((tag | cost) << TAG_SHIFT) : tag << TAG_SHIFT) | (stored / TWO_32)
  return asBig[0]!
}
