/** What a limiter answers. */
/** The answer to one call, with what a client needs to know about the next. */
export interface Decision<T extends string = string> {
  readonly allowed: boolean
  readonly tier: T
  /** The policy's limit: sustained allowance a period; of an `allOf`, that of the part which refused or has least left. */
  readonly limit: number
  /** Whole cost units that could be spent now, after this call; never below 0. */
  readonly remaining: number
  /**
   * Milliseconds, whole, after which a call of this cost succeeds if nobody else spends: the same call when it was
   * refused (or looked at), the next one when it was allowed. 0 when it would succeed now, `Infinity` for never.
   */
  readonly retryAfterMs: number
  /** Milliseconds, whole, until the bucket is full. */
  readonly resetAfterMs: number
  /** Where a part of an `allOf` refused: its index, the one with the longest wait if several did. */
  readonly refusedBy?: number
}

/** Counts of all threads together, past ones too, and the table's size. */
export interface Stats {
  /** Calls allowed; those of cost 0 are not counted. */
  readonly allowed: number
  readonly denied: number
  /** Full slots given to another key. */
  readonly reclaimed: number
  /** Calls that found no slot, whatever `whenFull` then said. */
  readonly tableFull: number
  /** Exchanges lost to another thread. */
  readonly casRetries: number
  /** Locks taken over from a holder that did not let go. */
  readonly lockTimeouts: number
  /** Calls refused because too many exchanges in a row were lost. */
  readonly contended: number
  /** Slots that hold a key, full ones not yet reclaimed among them. */
  readonly keys: number
  /** Slots in all. */
  readonly capacity: number
  /** Bytes of the arena. */
  readonly bytes: number
}

/** The verbs of a limiter bound to one tier; `tierOf` is not asked. */
export interface TierLimiter<T extends string = string> {
  allow(key: string, cost?: number): boolean
  consume(key: string, cost?: number): Decision<T>
  peek(key: string, cost?: number): Decision<T>
  retryAfterMs(key: string, cost?: number): number
  refund(key: string, cost?: number): void
  reset(key: string): void
}
