/**
 * Runs the requests of a log through policies, in the log's own time: the clock is the greatest time read so far, so
 * that a line whose time steps back is decided as a limiter under such a clock would decide it (G9).
 */
import type { HotbucketError } from '../index.ts'
import { SharedClock } from '../index.ts'
import type { Unreadable } from '../log/access-log.ts'
import { batchesOf } from '../log/lines.ts'
import type { Source } from '../log/source.ts'
import { Ledger, ROWS } from './ledger.ts'
import type { NamedPolicy } from './policy-text.ts'
import type { Reader, Request } from './reader.ts'
import { Timeline } from './timeline.ts'
import { Trial } from './trial.ts'

/** Unreadable lines that are kept with their reasons. */
const NAMED = 5

/** A line by its file and number, with what is to be said of it. */
export interface Remark {
  readonly file: string
  readonly line: number
  readonly reason: string
}

/** Everything that a run found out. */
export class Replay {
  lines = 0
  unreadable = 0
  readonly named: Remark[] = []
  requests = 0
  stepsBack = 0
  /** The longest way that a line's time was behind the clock. */
  farthestBack: (Remark & { readonly ms: number }) | undefined
  readonly faults: { readonly file: string; readonly reason: string }[] = []
  readonly ledger: Ledger
  readonly #policies: readonly NamedPolicy[]
  readonly #rows: number
  #trials: readonly Trial[] = []
  #timeline: Timeline | undefined
  #clock: SharedClock | undefined
  #nowMs = 0
  #beforeMs = 0

  constructor(policies: readonly NamedPolicy[], rows = ROWS) {
    this.#policies = policies
    this.#rows = rows
    this.ledger = new Ledger(rows)
  }

  get trials(): readonly Trial[] {
    return this.#trials
  }

  /** Undefined while there was no request: the first is in series 0, each policy's refusals in the next. */
  get timeline(): Timeline | undefined {
    return this.#timeline
  }

  get endMs(): number {
    return this.#nowMs
  }

  /** Reads `source` to its end or fault. Calls `progress` after each of its pieces. */
  async run(source: Source, { read }: Reader, progress: () => void): Promise<void> {
    let line = 0
    for await (const batch of batchesOf(source.chunks())) {
      for (const text of batch) {
        line++
        const parsed = read(text)
        const refusal = 'reason' in parsed ? parsed : this.#enter(parsed, source.name, line)
        if (refusal !== undefined) this.#note({ file: source.name, line, reason: refusal.reason })
      }
      this.lines += batch.length
      progress()
    }
    if (source.fault !== undefined) this.faults.push({ file: source.name, reason: source.fault })
  }

  #note(remark: Remark): void {
    this.unreadable++
    if (this.named.length < NAMED) this.named.push(remark)
  }

  #enter({ key, timeMs }: Request, file: string, line: number): Unreadable | undefined {
    if (this.#clock === undefined) this.#begin(timeMs)
    if (timeMs > this.#nowMs && !this.#moveTo(timeMs)) return { reason: 'its time is decades after the first: no limiter counts that far' }
    if (timeMs < this.#beforeMs) this.stepsBack++
    const ms = this.#nowMs - timeMs
    if (ms > (this.farthestBack?.ms ?? 0)) this.farthestBack = { file, line, reason: '', ms }
    this.#beforeMs = timeMs
    this.requests++
    const row = this.ledger.enter(key)
    const timeline = this.#timeline!
    const bin = timeline.binOf(this.#nowMs)
    timeline.series[0]![bin]!++
    this.#trials.forEach((trial, at) => {
      if (!trial.enter(key, row, this.#nowMs)) timeline.series[at + 1]![bin]!++
    })
    return undefined
  }

  #begin(timeMs: number): void {
    this.#nowMs = this.#beforeMs = timeMs
    this.#clock = new SharedClock(timeMs)
    this.#trials = this.#policies.map((named) => new Trial(named, this.#clock!, this.#rows))
    this.#timeline = new Timeline(timeMs, this.#policies.length + 1)
  }

  /** Moves the clock, unless that is more than a limiter made at the log's first time can hold. */
  #moveTo(timeMs: number): boolean {
    this.#clock!.set(timeMs)
    try {
      for (const { limiter } of this.#trials) limiter.peek('-')
    } catch (error) {
      if ((error as HotbucketError).code !== 'ERR_HOTBUCKET_CLOCK') throw error
      this.#clock!.set(this.#nowMs)
      return false
    }
    this.#nowMs = timeMs
    return true
  }
}
