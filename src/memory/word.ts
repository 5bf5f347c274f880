/**
 * The state word: one 64-bit cell that holds all that a decision depends on, so that one compare-and-swap
 * proves it.
 *
 *   63      57 56     51 50    49 48                          0
 *   generation   policy    phase            value
 *
 * The upper half is handled as one signed 32-bit integer (`hi`), the value as a number: a BigInt is only the
 * form in which `Atomics` takes and gives the word.
 */
import { VALUE_BITS } from '../arithmetic/algorithm.ts'

export const FREE = 0
/** Claimed; the value is then the time of the claim, in CLAIM_UNITS_PER_MS from the arena's birth, whatever the policy. */
export const TENTATIVE = 1
export const COMMITTED = 2

export const CLAIM_UNITS_PER_MS = 1024

const VALUE_HI_BITS = VALUE_BITS - 32
const VALUE_HI_MASK = (1 << VALUE_HI_BITS) - 1
const PHASE_SHIFT = VALUE_HI_BITS
const POLICY_SHIFT = PHASE_SHIFT + 2
const GENERATION_SHIFT = POLICY_SHIFT + 6
const TWO_32 = 4_294_967_296
/**
 * The middle of the floats from 2^52 to 2^53, where each whole number has one float, and its bytes as a whole number:
 * those of `MIDDLE + x`, `x` whole and below 2^51 either way, differ from them by `x`.
 */
const MIDDLE = 1.5 * 2 ** 52
const BYTES_OF_MIDDLE = 0x4338_0000_0000_0000n

/** `hi` with all but policy and phase masked out: what must agree for a word to be a committed one of a policy. */
export const KIND_MASK = (0x3f << POLICY_SHIFT) | (3 << PHASE_SHIFT)

// Private words, seen as the types between which they are converted: the word read last, and one to work with. Each
// thread has its own.
const asBig = new BigInt64Array(1)
const asInt = new Int32Array(asBig.buffer)
const deltaAsBig = new BigInt64Array(1)
const deltaAsInt = new Int32Array(deltaAsBig.buffer)
const deltaAsFloat = new Float64Array(deltaAsBig.buffer)

/** Reads `word`: returns its upper half. */
export function hiOf(word: bigint): number {
  asBig[0] = word
  return asInt[1]!
}

/** The value field of the word whose upper half `hi` was read last. */
export function valueBeside(hi: number): number {
  return (hi & VALUE_HI_MASK) * TWO_32 + (asInt[0]! >>> 0)
}

/** The value field of `word`. */
export function valueOf(word: bigint): number {
  return valueBeside(hiOf(word))
}

/** The word whose other fields are those of `hi` and whose value is `value`. */
export function wordOf(hi: number, value: number): bigint {
  deltaAsInt[0] = value | 0
  deltaAsInt[1] = (hi & ~VALUE_HI_MASK) | (value / TWO_32)
  return deltaAsBig[0]!
}

/** The word read last with `delta`, of either sign, added to its value: half the price of `wordOf`, for the loop that spends. */
export function lastPlus(delta: number): bigint {
  deltaAsFloat[0] = delta + MIDDLE
  return BigInt.asIntN(64, asBig[0]! + deltaAsBig[0]! - BYTES_OF_MIDDLE)
}

/** True when `word` is the word read last: cheaper than `===` between two BigInts. */
export function isLast(word: bigint): boolean {
  deltaAsBig[0] = word
  return deltaAsInt[0] === asInt[0] && deltaAsInt[1] === asInt[1]
}

/** An upper half from its fields, its part of the value 0. */
export function hiFrom(generation: number, policy: number, phase: number): number {
  return (generation << GENERATION_SHIFT) | (policy << POLICY_SHIFT) | (phase << PHASE_SHIFT)
}

export function generationOf(hi: number): number {
  return hi >>> GENERATION_SHIFT
}

export function policyIndexOf(hi: number): number {
  return (hi >>> POLICY_SHIFT) & 0x3f
}

export function phaseOf(hi: number): number {
  return (hi >>> PHASE_SHIFT) & 3
}

/**
 * What the identity cells are masked with in `generation`: an identity left over from another tenancy never
 * matches, and no cell takes the same value for the same key again until 128 generations later. An odd multiplier makes the 128 masks distinct.
 */
export function maskOf(generation: number): number {
  return Math.imul(generation + 1, 0x9e3779b1)
}
