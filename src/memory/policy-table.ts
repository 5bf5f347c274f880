/**
 * The policies in an arena. A tier's cell in the tier map names its first part, each part names the next; an entry is
 * written once before it is named, so a reader sees a whole policy or another whole one.
 */
import type { Terms } from '../arithmetic/algorithm.ts'
import { algorithmById } from '../arithmetic/compile.ts'
import { MAX_PARTS } from '../arithmetic/policy.ts'
import { badHandle, outOfRange } from '../errors.ts'
import * as layout from './layout.ts'
import { HEADER, POLICY_FIELDS } from './layout.ts'

/** One limit of a tier: its index in the table, and its terms. */
export interface Part {
  readonly index: number
  readonly terms: Terms
}

export class PolicyTable {
  readonly #cells: Int32Array
  readonly #floats: Float64Array
  readonly #parts: (Part | undefined)[] = []
  #version = 0

  constructor(buffer: SharedArrayBuffer) {
    const bytes = layout.POLICY_OFFSET + layout.POLICY_COUNT * layout.POLICY_BYTES
    this.#cells = new Int32Array(buffer, 0, bytes / 4)
    this.#floats = new Float64Array(buffer, 0, bytes / 8)
  }

  get bornMs(): number {
    return this.#floats[layout.BORN_MS_F64]!
  }

  set bornMs(ms: number) {
    this.#floats[layout.BORN_MS_F64] = ms
  }

  /** The parts that `tier` has now, in order. */
  parts(tier: number): Part[] {
    const parts: Part[] = []
    for (let index = this.#first(tier); index !== 0; index = this.#cells[entryCell(index) + 1]!) {
      if (index < 0 || index >= layout.POLICY_COUNT || parts.length === MAX_PARTS) throw badHandle(`tier ${tier} of the arena has a damaged policy`)
      parts.push(this.part(index))
    }
    return parts
  }

  /** The part at `index`, read once by each thread and policy version. */
  part(index: number): Part {
    const version = Atomics.load(this.#cells, HEADER.policyVersion)
    if (version !== this.#version) {
      this.#parts.length = 0
      this.#version = version
    }
    return (this.#parts[index] ??= this.#read(index))
  }

  /** Policy changes so far. */
  get version(): number {
    return Atomics.load(this.#cells, HEADER.policyVersion)
  }

  /** Makes `terms` the policy of `tier`, in entries that no tier uses. Throws ERR_HOTBUCKET_OPTION when there are too few. */
  write(tier: number, terms: readonly Terms[], tierCount: number): void {
    const used = new Set<number>()
    for (let other = 0; other < tierCount; other++) for (const { index } of this.parts(other)) used.add(index)
    if (used.size + terms.length >= layout.POLICY_COUNT) {
      throw outOfRange('ERR_HOTBUCKET_OPTION', 'tiers', used.size + terms.length, `at most ${layout.POLICY_COUNT - 1} policies, parts of allOf counted`)
    }
    // Entries are taken in turn, each by one thread, so that one given up is not written again soon.
    const free: number[] = []
    while (free.length < terms.length) {
      const index = 1 + ((Atomics.add(this.#cells, HEADER.policiesTaken, 1) >>> 0) % (layout.POLICY_COUNT - 1))
      if (!used.has(index)) free.push(index)
    }
    terms.forEach((part, i) => this.#write(free[i]!, i + 1 < terms.length ? free[i + 1]! : 0, part))
    Atomics.store(this.#cells, layout.TIER_MAP + tier, ~free[0]!)
    this.#first(tier)
  }

  /**
   * The index of the tier's first part. It is stored inverted, and whoever meets it so raises the version before going
   * by it: so nobody goes by a new policy while a thread that read the old one could take it for the last, though the
   * thread that set it be killed in between.
   */
  #first(tier: number): number {
    const at = layout.TIER_MAP + tier
    const seen = Atomics.load(this.#cells, at)
    if (seen >= 0) return seen
    Atomics.add(this.#cells, HEADER.policyVersion, 1)
    Atomics.compareExchange(this.#cells, at, seen, ~seen)
    return ~seen
  }

  #write(index: number, next: number, { algorithm, limit, periodMs, burst }: Terms): void {
    const entry = entryCell(index)
    this.#cells[entry] = algorithm.id
    this.#cells[entry + 1] = next
    this.#floats[entry / 2 + POLICY_FIELDS.limit] = limit
    this.#floats[entry / 2 + POLICY_FIELDS.periodMs] = periodMs
    this.#floats[entry / 2 + POLICY_FIELDS.burst] = burst
  }

  #read(index: number): Part {
    const entry = entryCell(index)
    const algorithm = algorithmById(this.#cells[entry]!)
    if (algorithm === undefined) throw badHandle(`policy ${index} of the arena has an unknown algorithm`)
    const numbers = {
      limit: this.#floats[entry / 2 + POLICY_FIELDS.limit]!,
      periodMs: this.#floats[entry / 2 + POLICY_FIELDS.periodMs]!,
      burst: this.#floats[entry / 2 + POLICY_FIELDS.burst]!,
    }
    return { index, terms: algorithm.terms(numbers, this.bornMs) }
  }
}

/** 32-bit index of the first cell of an entry. */
function entryCell(index: number): number {
  return (layout.POLICY_OFFSET + index * layout.POLICY_BYTES) / 4
}
