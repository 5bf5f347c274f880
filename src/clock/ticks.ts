/** The reading side of a coarse clock: as cheap as memory, and late by as much as its ticker is. Starts no thread. */
import { badHandle } from '../errors.ts'
import { TickCell } from '../memory/tick-cell.ts'
import type { Clock } from './clock.ts'
import { systemClock } from './clock.ts'

/** A coarse clock as it is posted to another thread; it travels in a limiter's handle. */
export interface CoarseClockHandle {
  readonly kind: 'coarse'
  readonly buffer: SharedArrayBuffer
}

/** Readings at one time after which the true clock is asked at the latest. */
export const MOST_AT_ONE_TIME = 64
/** Ticks missed after which a reader publishes the time itself. */
export const MISSED_TICKS = 10

/**
 * The time as a ticker publishes it. It never steps back and is never ahead of the true clock. Where it stands still, the
 * true clock is asked at the 1st, 2nd, 4th, 8th further reading and so on, then at every 64th; where that shows ten ticks missed,
 * the reader publishes the time for all threads. Thread-safe; one instance belongs to the thread that made it.
 */
export class Ticks implements Clock {
  // Ordinary fields: reading #fields costs a hot call some nanoseconds more.
  private readonly cell: TickCell
  private readonly hint: Float64Array
  private readonly trueClock: Clock
  private seen = NaN
  private ms = 0
  /** Readings from one question to the true clock to the next, and those left of them. */
  private stride = 1
  private left = 1

  /** Throws `TypeError` ERR_HOTBUCKET_HANDLE. */
  constructor(handle: CoarseClockHandle | TickCell, trueClock: Clock = systemClock) {
    if (!TickCell.accepts(handle.buffer)) throw badHandle('its clock is not the handle of a CoarseClock')
    this.cell = handle instanceof TickCell ? handle : new TickCell(handle.buffer)
    this.hint = this.cell.hint
    this.trueClock = trueClock
    this.look()
  }

  /** What another thread reads the same time by; structured-cloneable. */
  get handle(): CoarseClockHandle {
    return { kind: 'coarse', buffer: this.cell.buffer }
  }

  /** The time of the last tick that this thread has seen, in milliseconds on the base of the default clock. */
  nowMs(): number {
    if (this.hint[0] === this.seen && --this.left > 0) return this.ms
    return this.look()
  }

  /** Makes `nowMs` no older than any reading of another thread before this call. */
  catchUp(): void {
    this.ms = this.cell.ms
  }

  /** By how much the time published is late now: about one interval while the ticker gets its turn. */
  lagMs(): number {
    const { ms } = this.cell
    return this.trueClock.nowMs() - ms
  }

  /** Publishes the true time, as the ticker does. */
  publish(): void {
    this.cell.raise(this.trueClock.nowMs())
  }

  private look(): number {
    // Before the time: what is published in between shows in the hint later on.
    const hint = this.hint[0]!
    if (hint !== this.seen) {
      this.seen = hint
      this.stride = 1
    } else {
      this.stride = Math.min(2 * this.stride, MOST_AT_ONE_TIME)
      if (this.lagMs() > MISSED_TICKS * this.cell.intervalMs) this.publish()
    }
    this.left = this.stride
    this.catchUp()
    return this.ms
  }
}
