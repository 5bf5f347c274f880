/**
 * A time in shared memory that only rises, for readers that can afford one plain load.
 *
 * The time is an atomic 64-bit cell. Beside it lies the hint: the time published last, written after the time and read
 * plainly, as a float that repeats no value for as long as a clock runs. Nothing is decided on it: one that has not
 * moved says that a time read earlier may still be used, which is then late, never early; one that has moved, or is torn,
 * or is older, sends the reader to the time. A publisher that dies between the two leaves the hint late until the next.
 */
import { TimeCell } from './time-cell.ts'

/** The cells lie in the middle, since a buffer may begin anywhere in a cache line and others write next to it. */
const BYTES = 128
const TIME = 64
const HINT = 72
const INTERVAL = 80

export class TickCell {
  readonly buffer: SharedArrayBuffer
  /** One element: changes when the time does. */
  readonly hint: Float64Array
  /** Milliseconds from one publication to the next, as far as the ticker gets its turn. */
  readonly intervalMs: number
  private readonly time: TimeCell

  /** A new cell of a ticker of `intervalMs`, at time 0, or the one in a buffer that `accepts` takes. */
  constructor(from: number | SharedArrayBuffer) {
    this.buffer = typeof from === 'number' ? new SharedArrayBuffer(BYTES) : from
    const interval = new Float64Array(this.buffer, INTERVAL, 1)
    // Written once, before any other thread has the buffer.
    if (typeof from === 'number') interval[0] = from
    this.intervalMs = interval[0]!
    this.hint = new Float64Array(this.buffer, HINT, 1)
    this.time = new TimeCell(this.buffer, TIME)
  }

  /** True when `value` could be the buffer of a cell. */
  static accepts(value: unknown): value is SharedArrayBuffer {
    return TimeCell.accepts(value, BYTES)
  }

  /** The time; 0 where none was published. Not older than any that another thread has read before. */
  get ms(): number {
    return this.time.ms
  }

  /** Makes the time `ms`, unless it is later already or another thread is making it so. */
  raise(ms: number): void {
    if (this.time.raise(ms)) this.hint[0] = ms
  }
}

/** What makes the calling thread sleep for `ms` milliseconds; it must be one that may. */
export function sleeper(): (ms: number) => void {
  const never = new Int32Array(new SharedArrayBuffer(4))
  return (ms) => void Atomics.wait(never, 0, 0, ms)
}
