/**
 * The arena: one `SharedArrayBuffer` with header, policy table, tally lines, slots and, under `sync: 'mutex'`,
 * locks. Made once, never grown (G6). Opening checks everything that a foreign or damaged buffer could get wrong.
 */
import { termsOf } from '../arithmetic/compile.ts'
import type { Policy } from '../arithmetic/policy.ts'
import { badHandle, outOfRange } from '../errors.ts'
import { Hasher } from './hasher.ts'
import * as layout from './layout.ts'
import { HEADER } from './layout.ts'
import { PolicyTable } from './policy-table.ts'

/** What an arena is made for. */
export interface ArenaOptions {
  readonly maxKeys: number
  readonly mutex: boolean
  readonly allowWhenFull: boolean
  readonly lockTimeoutMs: number
  readonly bornMs: number
  readonly tiers: ReadonlyMap<string, Policy>
}

/** A 32-bit digest of tier names in their order: two attachments that disagree about names are told apart. */
function digestOf(names: Iterable<string>): number {
  const digest = { h0: 0, h1: 0 }
  new Hasher(0, 0).hash(0, JSON.stringify([...names]), digest)
  return digest.h0
}

export class Arena {
  readonly buffer: SharedArrayBuffer
  readonly words: BigInt64Array
  readonly cells: Int32Array
  readonly policies: PolicyTable

  readonly bucketCount: number
  readonly ways: number
  readonly maxKeys: number
  readonly mutex: boolean
  readonly allowWhenFull: boolean
  readonly lockTimeoutMs: number
  readonly tierCount: number
  readonly bornMs: number
  /** 64-bit index of the first slot. */
  readonly firstSlot = layout.SLOTS_OFFSET / 8
  /** 64-bit index after the last slot, where the rings begin. */
  readonly endSlot: number
  readonly ringSize: number
  /** 64-bit index of the first ring. */
  get firstRing(): number {
    return this.endSlot
  }
  /** 32-bit index of the first lock. */
  readonly firstLock: number

  private constructor(buffer: SharedArrayBuffer) {
    // Explicit lengths: a view that tracks the length of a resizable buffer is slow.
    this.buffer = buffer
    this.words = new BigInt64Array(buffer, 0, Math.floor(buffer.byteLength / 8))
    this.cells = new Int32Array(buffer, 0, Math.floor(buffer.byteLength / 4))
    this.policies = new PolicyTable(buffer)
    this.bucketCount = this.cells[HEADER.bucketCount]!
    this.ways = this.cells[HEADER.ways]!
    this.maxKeys = this.cells[HEADER.maxKeys]!
    this.mutex = this.cells[HEADER.sync] === 1
    this.allowWhenFull = this.cells[HEADER.whenFull] === 1
    this.lockTimeoutMs = this.cells[HEADER.lockTimeoutMs]!
    this.tierCount = this.cells[HEADER.tierCount]!
    this.bornMs = this.policies.bornMs
    this.ringSize = this.cells[HEADER.ringSize]!
    this.endSlot = this.firstSlot + this.capacity * (layout.SLOT_BYTES / 8)
    this.firstLock = (this.endSlot + this.capacity * this.ringSize) * 2
  }

  /** A new arena, sealed. The policies must have been checked. */
  static create(options: ArenaOptions): Arena {
    const terms = [...options.tiers.values()].map((policy) => termsOf(policy, options.bornMs))
    const ringSize = Math.max(...terms.flat().map((part) => part.ringSize))
    // A key takes a slot for each part of its policy.
    const maxKeys = options.maxKeys * Math.max(...terms.map((parts) => parts.length))
    if (maxKeys > layout.MAX_KEYS) throw outOfRange('ERR_HOTBUCKET_OPTION', 'maxKeys', options.maxKeys, `at most ${layout.MAX_KEYS} over the most parts of a policy`)
    const byteLength = layout.arenaBytes(maxKeys, options.mutex, ringSize)
    // A maximum length makes the buffer page-aligned, so that slots do not straddle cache lines.
    const buffer = new SharedArrayBuffer(byteLength, { maxByteLength: byteLength })
    const cells = new Int32Array(buffer)
    const seeds = crypto.getRandomValues(new Int32Array(2))
    const { bucketCount, ways } = layout.geometry(maxKeys)
    cells[HEADER.magic] = layout.MAGIC
    cells[HEADER.version] = layout.LAYOUT_VERSION
    cells[HEADER.bucketCount] = bucketCount
    cells[HEADER.ways] = ways
    cells[HEADER.maxKeys] = maxKeys
    cells[HEADER.sync] = options.mutex ? 1 : 0
    cells[HEADER.whenFull] = options.allowWhenFull ? 1 : 0
    cells[HEADER.tierCount] = options.tiers.size
    cells[HEADER.seed0] = seeds[0]!
    cells[HEADER.seed1] = seeds[1]!
    cells[HEADER.namesDigest] = digestOf(options.tiers.keys())
    cells[HEADER.lockTimeoutMs] = options.lockTimeoutMs
    cells[HEADER.ringSize] = ringSize
    new PolicyTable(buffer).bornMs = options.bornMs
    const arena = new Arena(buffer)
    terms.forEach((parts, tier) => arena.policies.write(tier, parts, options.tiers.size, () => new Set()))
    Atomics.store(cells, HEADER.sealed, 1)
    return arena
  }

  /** The arena in `buffer`, whose tiers bear `names`. Throws ERR_HOTBUCKET_HANDLE, saying what is wrong. */
  static open(buffer: unknown, names: readonly string[]): Arena {
    if (Object.prototype.toString.call(buffer) !== '[object SharedArrayBuffer]') {
      throw badHandle('its buffer is not a SharedArrayBuffer (it does not survive JSON, nor another process)')
    }
    const shared = buffer as SharedArrayBuffer
    if (shared.byteLength < layout.SLOTS_OFFSET) {
      throw badHandle(`its buffer has ${shared.byteLength} bytes, fewer than a header`)
    }
    const cells = new Int32Array(shared, 0, layout.SLOTS_OFFSET / 4)
    if (Atomics.load(cells, HEADER.sealed) !== 1 || cells[HEADER.magic] !== layout.MAGIC) {
      throw badHandle('its buffer does not hold a hotbucket arena')
    }
    if (cells[HEADER.version] !== layout.LAYOUT_VERSION) {
      throw badHandle(`its layout is version ${cells[HEADER.version]}, this code reads version ${layout.LAYOUT_VERSION}`)
    }
    const maxKeys = cells[HEADER.maxKeys]!
    const wanted = maxKeys >= 1 && maxKeys <= layout.MAX_KEYS ? layout.arenaBytes(maxKeys, cells[HEADER.sync] === 1, cells[HEADER.ringSize]!) : 0
    const { bucketCount, ways } = layout.geometry(maxKeys)
    if (shared.byteLength !== wanted || cells[HEADER.bucketCount] !== bucketCount || cells[HEADER.ways] !== ways) {
      throw badHandle(`its buffer has ${shared.byteLength} bytes; an arena for ${maxKeys} keys has ${wanted}`)
    }
    if (cells[HEADER.tierCount] !== names.length || cells[HEADER.namesDigest] !== digestOf(names)) {
      throw badHandle(`its tiers (${names.join(', ')}) are not the ${cells[HEADER.tierCount]} tiers of the arena`)
    }
    const arena = new Arena(shared)
    for (let tier = 0; tier < arena.tierCount; tier++) {
      const parts = arena.policies.parts(tier)
      if (parts.length === 0 || parts.some(({ terms }) => terms.ringSize > arena.ringSize)) throw badHandle(`tier ${tier} of the arena has a damaged policy`)
    }
    return arena
  }

  /** Slots in all: no more keys than this are ever held. */
  get capacity(): number {
    return this.bucketCount * this.ways
  }

  /** A hasher under this arena's secret seed. */
  hasher(): Hasher {
    return new Hasher(this.cells[HEADER.seed0]!, this.cells[HEADER.seed1]!)
  }

  /** A number that no other attachment of this arena has, until 2^29 attachments later. */
  takeTicket(): number {
    return Atomics.add(this.cells, HEADER.tickets, 1) & 0x1fffffff
  }
}
