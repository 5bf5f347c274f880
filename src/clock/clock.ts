/** The only room that asks the time. */
import { MAX_TIME_MS } from '../arithmetic/algorithm.ts'
import { badHandle, outOfRange } from '../errors.ts'
import { TimeCell } from '../memory/time-cell.ts'

/** A source of time. It should be monotonic; a step back stands still until the clock catches up (G9). */
export interface Clock {
  /** Milliseconds from any fixed point, the same point in all threads; fractions are welcome. */
  nowMs(): number
  /** Of a clock that may be late in one thread: makes `nowMs` no older than any reading of another thread before this call. */
  catchUp?(): void
}

// The reading passes through a private word, since Number(bigint) costs half as much again as the reading. There it is
// seen as a float: added to the bytes of 2^52, whole numbers below 2^52 are the floats from there to 2^53.
const nanoseconds = new BigInt64Array(1)
const halves = new Uint32Array(nanoseconds.buffer)
const asFloat = new Float64Array(nanoseconds.buffer)
const BYTES_OF_2_52 = 0x4330_0000_0000_0000n
// Held here, since the global `process` is a getter.
const hrtime = process.hrtime.bigint

/** The kernel's monotonic clock, one base for all threads of the process; it stands still while a machine sleeps. */
const hrtimeClock: Clock = {
  nowMs(): number {
    nanoseconds[0] = hrtime() + BYTES_OF_2_52
    const biased = asFloat[0]!
    // On a machine that has been up for more than 52 days, by the longer way.
    return (biased < 2 ** 53 ? biased - 2 ** 52 : (halves[1]! - 0x4330_0000) * 4_294_967_296 + halves[0]!) * 1e-6
  },
}

/** Where each thread counts hrtime from its own start (Bun, Deno), only the origin and the offset together agree. */
const originClock: Clock = {
  nowMs: () => performance.timeOrigin + performance.now(),
}

/** The default clock: monotonic, and the same in all threads of a process. */
export const systemClock: Clock = 'bun' in process.versions || 'deno' in process.versions ? originClock : hrtimeClock

/** A clock that can be posted to another thread. */
export interface SharedClockHandle {
  readonly kind: 'shared'
  readonly buffer: SharedArrayBuffer
}

/**
 * A clock whose time lives in shared memory and moves only when told: one time for all threads, in tests and in
 * replays. It travels in a limiter's handle. Thread-safe.
 */
export class SharedClock implements Clock {
  readonly #cell: TimeCell

  /**
   * Starts at `start` milliseconds (0 by default, within 2^43 of 0), or is the clock of a handle from another thread.
   * Throws `RangeError` ERR_HOTBUCKET_CLOCK, `TypeError` ERR_HOTBUCKET_HANDLE.
   */
  constructor(start: number | Pick<SharedClockHandle, 'buffer'> = 0) {
    if (typeof start === 'object' && start !== null) {
      if (!TimeCell.accepts(start.buffer)) throw badHandle('its clock is not the handle of a SharedClock')
      this.#cell = new TimeCell(start.buffer)
    } else {
      this.#cell = new TimeCell()
      this.#cell.ms = checkedTime('start', start)
    }
  }

  /** What `attach` takes; structured-cloneable. */
  get handle(): SharedClockHandle {
    return { kind: 'shared', buffer: this.#cell.buffer }
  }

  /** The time in milliseconds. Thread-safe, but the value may be outdated on return. */
  nowMs(): number {
    return this.#cell.ms
  }

  /** Moves the time by `ms`, which may be negative; returns the time after it. Thread-safe, one atomic step. */
  advance(ms: number): number {
    return this.#cell.add(checkedTime('ms', ms))
  }

  /** Sets the time to `ms`. Thread-safe. */
  set(ms: number): void {
    this.#cell.ms = checkedTime('ms', ms)
  }
}

function checkedTime(field: string, ms: unknown): number {
  if (typeof ms !== 'number' || !(Math.abs(ms) <= MAX_TIME_MS)) {
    throw outOfRange('ERR_HOTBUCKET_CLOCK', field, ms, `a number of milliseconds within ${MAX_TIME_MS} of 0`)
  }
  return ms
}

/** Reads a clock for one attached limiter: checks each reading, and never lets the time go back (G9). */
export class Reader {
  private readonly clock: Clock
  /** The greatest reading whose state still fits. */
  horizonMs = Infinity
  /** The greatest reading, then the last one: in a typed array, since a number in a field would be a new object each time. */
  private readonly times: Float64Array

  /** Time begins at `bornMs`: an earlier reading stands still there. */
  constructor(clock: Clock, bornMs: number) {
    this.clock = clock
    this.times = new Float64Array([bornMs, bornMs])
  }

  /** The greatest reading so far: decisions are made on this one. */
  get ms(): number {
    return this.times[0]!
  }

  /** The last reading as the clock gave it: waits are true on this one. */
  get rawMs(): number {
    return this.times[1]!
  }

  /** Asks the clock; returns `ms`. Throws ERR_HOTBUCKET_CLOCK, or what the clock throws. */
  read(): number {
    const raw = this.clock.nowMs()
    const times = this.times
    if (typeof raw !== 'number' || !(raw >= times[0]! && raw <= this.horizonMs)) return this.standStill(raw)
    return (times[0] = times[1] = raw)
  }

  /** A reading that did not move on: the clock stepped back, or it is no reading. */
  private standStill(raw: unknown): number {
    if (typeof raw !== 'number' || !(raw <= this.horizonMs && raw >= -MAX_TIME_MS)) this.refuse(raw)
    this.times[1] = raw
    return this.times[0]!
  }

  /**
   * As `read`, and no older than any reading that another thread has acted on before: for a charge to a new bucket, which
   * does not show what was done to the one before it. A state that shows it needs none, since an older reading is refused by it.
   */
  readFresh(): number {
    this.clock.catchUp?.()
    return this.read()
  }

  private refuse(raw: unknown): never {
    throw outOfRange('ERR_HOTBUCKET_CLOCK', 'nowMs()', raw, `a number of milliseconds up to ${Math.floor(this.horizonMs)}`)
  }
}

/** One checked reading, for the birth of an arena. Throws ERR_HOTBUCKET_CLOCK, or what the clock throws. */
export function firstReading(clock: Clock): number {
  const ms = clock.nowMs()
  if (typeof ms !== 'number' || !(Math.abs(ms) <= MAX_TIME_MS)) {
    throw outOfRange('ERR_HOTBUCKET_CLOCK', 'nowMs()', ms, `a number of milliseconds within ${MAX_TIME_MS} of 0`)
  }
  return Math.floor(ms)
}
