/** `hotbucket/coarse-clock`: a subpath, so that the core imports nothing that starts a thread. */
import { Worker } from 'node:worker_threads'
import { checkedObject, wholeOption } from '../options.ts'
import { TickCell } from '../memory/tick-cell.ts'
import { Ticks } from './ticks.ts'

export type { CoarseClockHandle } from './ticks.ts'

/** Options of a CoarseClock. */
export interface CoarseClockOptions {
  /** Whole milliseconds from one tick to the next, 1 to 1,000; 1 by default. */
  readonly intervalMs?: number
}

/**
 * A clock that a thread of its own, the ticker, publishes in shared memory, and that is read with one plain load. Pass it
 * as a limiter's `clock`: it travels in the handle, and whoever attaches reads the same time.
 *
 * It is late by a tick, and by as much as the ticker waits for its turn; it is never ahead, so calls are admitted late and
 * never early. Where the ticker misses ten ticks or has ended, readers publish the time themselves: see `Ticks`.
 */
export class CoarseClock extends Ticks {
  #ticker: Worker | undefined

  /**
   * Starts the ticker, which keeps no process alive; it ends with the thread that made it. The time is right from the start. Should the ticker fail, `process` emits a warning.
   * Throws `RangeError` or `TypeError` ERR_HOTBUCKET_OPTION.
   */
  constructor(options: CoarseClockOptions = {}) {
    super(new TickCell(wholeOption('intervalMs', checkedObject('options', options).intervalMs, 1, 1_000, 1)))
    this.publish()
    const warn = (error: Error): void => process.emitWarning(`the ticker of a CoarseClock ended, and its readers go on without: ${error.message}`, 'HotbucketWarning')
    try {
      this.#ticker = new Worker(new URL('./ticker.js', import.meta.url), {
        name: 'hotbucket ticker',
        workerData: this.handle,
        // Nothing of the parent's is loaded there: no preloaded module, no option from the environment.
        execArgv: [],
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
      })
      this.#ticker.unref()
      this.#ticker.on('error', warn)
    } catch (error) {
      // Where threads are not permitted.
      warn(error as Error)
    }
  }

  /** Ends the ticker. The clock goes on, published by its readers, and coarser. May be repeated. */
  close(): void {
    void this.#ticker?.terminate()
  }

  /** `close`, for `using`. */
  [Symbol.dispose](): void {
    this.close()
  }
}
