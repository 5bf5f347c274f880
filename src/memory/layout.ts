/**
 * The arena's layout: offsets, field positions and the size formula, and nothing else.
 * `native-layout.md` describes it; a test compares the two.
 */

/** First word of an arena: the bytes `hotb`. */
export const MAGIC = 0x62746f68
/** Raised whenever a reader of an older layout would misread a newer one. */
export const LAYOUT_VERSION = 1

/** Header words, as indices of 32-bit cells from the start of the arena. */
export const HEADER = {
  magic: 0,
  version: 1,
  bucketCount: 2,
  ways: 3,
  maxKeys: 4,
  sync: 5,
  whenFull: 6,
  tierCount: 7,
  seed0: 8,
  seed1: 9,
  namesDigest: 10,
  lockTimeoutMs: 11,
  /** Written after all others; an arena without it is not finished. */
  sealed: 12,
  /** Threads attached so far: the next ticket. */
  tickets: 13,
  /** Policy changes so far. */
  policyVersion: 14,
  /** Records in the ring of each slot. */
  ringSize: 15,
  /** Entries of the policy table taken so far, in turn. */
  policiesTaken: 18,
} as const

/** `bornMs` as a 64-bit float, at this index of 64-bit cells. */
export const BORN_MS_F64 = 8

/** Tier map: 32-bit cell `TIER_MAP + tier` holds the index of the tier's policy. */
export const TIER_MAP = 32
export const MAX_TIERS = 32

/** Policy table: `POLICY_COUNT` entries of `POLICY_BYTES`; entry 0 is never used. */
export const POLICY_OFFSET = 256
export const POLICY_COUNT = 64
export const POLICY_BYTES = 32
/**
 * Within an entry: what it is as the 32-bit cell 0, its complement while it is being written; the index of the next part
 * or 0 as cell 1; then 64-bit floats. What it is, from the low bits up: algorithm, tier, part, times written.
 */
export const ENTRY_BITS = { algorithm: 4, tier: 5, part: 3, times: 19 } as const
export const POLICY_FIELDS = { limit: 1, periodMs: 2, burst: 3 } as const

/** Tally lines: one cache line a ticket, the first half for one thread each, the others shared. */
export const TALLY_OFFSET = POLICY_OFFSET + POLICY_COUNT * POLICY_BYTES
export const LINE_BYTES = 64
export const TALLY_LINES = 128
export const EXCLUSIVE_LINES = 64
/** Counters of a tally line, each two 32-bit cells, low then high. */
export const TALLY = { allowed: 0, denied: 2, reclaimed: 4, tableFull: 6, casRetries: 8, lockTimeouts: 10, contended: 12 } as const

/**
 * Slots: `bucketCount * ways` of `SLOT_BYTES`, from here. After the last slot the rings, `ringSize` 64-bit words for
 * each slot; then, in a mutex arena, the locks, a 32-bit cell for each slot.
 */
export const SLOTS_OFFSET = TALLY_OFFSET + TALLY_LINES * LINE_BYTES
export const SLOT_BYTES = 16
/** 64-bit cells from one slot to the next. */
export const STRIDE = SLOT_BYTES / 8
/** Within a slot: state as the 64-bit cell 0; identity as the 32-bit cells 2 and 3. */
export const SLOT_STATE_HI = 1
export const SLOT_IDENTITY0 = 2
export const SLOT_IDENTITY1 = 3

/** Slots of a bucket, and keys of a bucket at the published load of 5/8. */
export const WAYS = 8
export const KEYS_PER_BUCKET = 5
export const MAX_KEYS = 2 ** 26

/** How many buckets of how many slots hold `maxKeys`: up to 8 keys one bucket of exactly that many slots. */
export function geometry(maxKeys: number): { bucketCount: number; ways: number } {
  if (maxKeys <= WAYS) return { bucketCount: 1, ways: maxKeys }
  return { bucketCount: Math.ceil(maxKeys / KEYS_PER_BUCKET), ways: WAYS }
}

/** Bytes of an arena for `maxKeys` keys. */
export function arenaBytes(maxKeys: number, mutex: boolean, ringSize: number): number {
  const { bucketCount, ways } = geometry(maxKeys)
  return SLOTS_OFFSET + bucketCount * ways * (SLOT_BYTES + 8 * ringSize + (mutex ? 4 : 0))
}
