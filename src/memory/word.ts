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

export const CLAIM_UNITS_PER_MS = 64

const VALUE_HI_BITS = VALUE_BITS - 32
const VALUE_HI_MASK = (1 << VALUE_HI_BITS) - 1
const PHASE_SHIFT = VALUE_HI_BITS
const POLICY_SHIFT = PHASE_SHIFT + 2
const GENERATION_SHIFT = POLICY_SHIFT + 6
const TWO_32 = 4_294_967_296
/** A float at or above 2^52 and below 2^53 holds its whole part, less 2^52, in the low 52 bits of its bytes. */
const TWO_52 = 4_503_599_627_370_496

/** `hi` with all but policy and phase masked out: what must agree for a word to be a committed one of a policy. */
export const KIND_MASK = (0x3f << POLICY_SHIFT) | (3 << PHASE_SHIFT)

// One private word, seen as the three types between which it is converted. Each thread has its own.
const bytes = new ArrayBuffer(8)
const asBig = new BigInt64Array(bytes)
const asInt = new Int32Array(bytes)
const asFloat = new Float64Array(bytes)

/** The upper half of `word`. */
export function hiOf(word: bigint): number {
  asBig[0] = word
  return asInt[1]!
}

/** The value field of `word`. */
export function valueOf(word: bigint): number {
  asBig[0] = word
  return (asInt[1]! & VALUE_HI_MASK) * TWO_32 + (asInt[0]! >>> 0)
}

/** The word whose other fields are those of `hi` and whose value is `value`. */
export function wordOf(hi: number, value: number): bigint {
  asInt[0] = value | 0
  asInt[1] = (hi & ~VALUE_HI_MASK) | (value / TWO_32)
  return asBig[0]!
}

/** `word` with `delta` (0 or more) added to its value: half the price of `wordOf`, for the loop that spends. */
export function wordPlus(word: bigint, delta: number): bigint {
  asFloat[0] = delta + TWO_52
  return BigInt.asIntN(64, word + BigInt.asUintN(52, asBig[0]!))
}

/** An upper half from its fields, its part of the value 0. */
export function hiFrom(generation: number, policy: number, phase: number): number {
  return (generation << GENERATION_SHIFT) | (policy << POLICY_SHIFT) | (phase << PHASE_SHIFT)
}

/** True when two upper halves agree in all but the value: same generation, policy and phase. */
export function sameTenancy(a: number, b: number): boolean {
  return ((a ^ b) & ~VALUE_HI_MASK) === 0
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
