/**
 * The policies in an arena. A tier's cell in the tier map names its first part, each part names the next; an entry is
 * written once before it is named, so a reader sees a whole policy or another whole one.
 */
import type { Terms } from '../arithmetic/algorithm.ts'
import { algorithmById } from '../arithmetic/compile.ts'
import { MAX_PARTS } from '../arithmetic/policy.ts'
import { badHandle, outOfRange } from '../errors.ts'
import * as layout from './layout.ts'
import { ENTRY_BITS, HEADER, POLICY_FIELDS } from './layout.ts'

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

  /** The parts that `tier` has now, in order. Throws ERR_HOTBUCKET_HANDLE where they are damaged. */
  parts(tier: number): Part[] {
    for (;;) {
      const { version } = this
      try {
        const parts = this.#chain(tier)
        if (this.version === version) return parts
      } catch (error) {
        // An entry that was given up while it was read may be half another's.
        if (this.version === version) throw error
      }
    }
  }

  #chain(tier: number): Part[] {
    const parts: Part[] = []
    for (let index = this.#first(tier); index !== 0; index = this.#cells[entryCell(index) + 1]!) {
      if (index < 0 || index >= layout.POLICY_COUNT || parts.length === MAX_PARTS) throw badHandle(`tier ${tier} of the arena has a damaged policy`)
      parts.push(this.part(index))
    }
    return parts
  }

  /** For each index the one that took its place: its own where its tier has it now, or where it is none. */
  heirs(tierCount: number): number[] {
    const now = Array.from({ length: tierCount }, (_, tier) => this.parts(tier))
    return Array.from({ length: layout.POLICY_COUNT }, (_, index) => {
      const what = Atomics.load(this.#cells, entryCell(index))
      return what <= 0 ? index : (now[fieldOf(what, 'tier')]?.[fieldOf(what, 'part')]?.index ?? index)
    })
  }

  /** The part at `index`, read once by each thread and policy version. A plain look at that: it comes after the atomic one that found the index. */
  part(index: number): Part {
    const version = this.#cells[HEADER.policyVersion]!
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

  /**
   * Makes `terms` the policy of `tier`, in entries that no tier uses and no slot bears; `settle` makes slots bear no old
   * ones, and tells which they bore. Throws ERR_HOTBUCKET_OPTION when there are too few.
   */
  write(tier: number, terms: readonly Terms[], tierCount: number, settle: () => ReadonlySet<number>): void {
    const taken = this.#take(terms.length, tierCount, settle)
    // The last first, so that each names one that is whole.
    for (let at = terms.length - 1; at >= 0; at--) this.#write(taken[at]!, taken[at + 1] ?? 0, tier, at, terms[at]!)
    Atomics.store(this.#cells, layout.TIER_MAP + tier, ~taken[0]!)
    this.#first(tier)
  }

  /** Takes entries for one thread alone: what an entry is, below 0 from then on, is exchanged for what it was before the look at all slots. */
  #take(count: number, tierCount: number, settle: () => ReadonlySet<number>): number[] {
    for (;;) {
      const { version } = this
      const before = Array.from({ length: layout.POLICY_COUNT }, (_, index) => Atomics.load(this.#cells, entryCell(index)))
      const used = new Set(settle())
      before.forEach((what, index) => void (what < 0 && used.add(index)))
      // Last of all: the change of a tier that makes it give up its entries shows in the version.
      for (let other = 0; other < tierCount; other++) for (const { index } of this.parts(other)) used.add(index)
      if (this.version !== version) continue
      if (used.size + count >= layout.POLICY_COUNT) {
        throw outOfRange('ERR_HOTBUCKET_OPTION', 'policies', used.size + count, `at most ${layout.POLICY_COUNT - 1} while one is changed, old and new, parts of allOf counted`)
      }
      const taken: number[] = []
      // In turn, so that an entry given up is not written again soon.
      for (let tries = 1; tries < layout.POLICY_COUNT && taken.length < count; tries++) {
        const index = 1 + ((Atomics.add(this.#cells, HEADER.policiesTaken, 1) >>> 0) % (layout.POLICY_COUNT - 1))
        const what = before[index]!
        if (!used.has(index) && Atomics.compareExchange(this.#cells, entryCell(index), what, ~what) === what) taken.push(index)
      }
      if (taken.length === count) return taken
      // Other threads were faster.
      for (const index of taken) Atomics.store(this.#cells, entryCell(index), before[index]!)
    }
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

  /** Writes an entry that this thread has taken. */
  #write(index: number, next: number, tier: number, at: number, { algorithm, limit, periodMs, burst }: Terms): void {
    const entry = entryCell(index)
    const times = fieldOf(~this.#cells[entry]!, 'times') + 1
    this.#cells[entry + 1] = next
    this.#floats[entry / 2 + POLICY_FIELDS.limit] = limit
    this.#floats[entry / 2 + POLICY_FIELDS.periodMs] = periodMs
    this.#floats[entry / 2 + POLICY_FIELDS.burst] = burst
    Atomics.store(this.#cells, entry, whatOf({ algorithm: algorithm.id, tier, part: at, times }))
  }

  #read(index: number): Part {
    const entry = entryCell(index)
    const what = Atomics.load(this.#cells, entry)
    const algorithm = algorithmById(fieldOf(what, 'algorithm'))
    if (what < 0 || algorithm === undefined) throw badHandle(`policy ${index} of the arena has an unknown algorithm`)
    const numbers = {
      limit: this.#floats[entry / 2 + POLICY_FIELDS.limit]!,
      periodMs: this.#floats[entry / 2 + POLICY_FIELDS.periodMs]!,
      burst: this.#floats[entry / 2 + POLICY_FIELDS.burst]!,
    }
    return { index, terms: algorithm.terms(numbers, this.bornMs) }
  }
}

type Field = keyof typeof ENTRY_BITS
const FIELDS = Object.keys(ENTRY_BITS) as Field[]
const SHIFTS = Object.fromEntries(FIELDS.map((field, at) => [field, FIELDS.slice(0, at).reduce((sum, below) => sum + ENTRY_BITS[below], 0)])) as Record<Field, number>

function fieldOf(what: number, field: Field): number {
  return (what >> SHIFTS[field]) & (2 ** ENTRY_BITS[field] - 1)
}

/** What an entry is, of its fields; each modulo its width. */
function whatOf(fields: Readonly<Record<Field, number>>): number {
  return FIELDS.reduce((what, field) => what | ((fields[field] & (2 ** ENTRY_BITS[field] - 1)) << SHIFTS[field]), 0)
}

/** 32-bit index of the first cell of an entry. */
function entryCell(index: number): number {
  return (layout.POLICY_OFFSET + index * layout.POLICY_BYTES) / 4
}
