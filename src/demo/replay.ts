/**
 * Replays a log against the server, in the log's own time.
 *
 * The clock is the greatest time read so far: a line whose time steps back is decided at the time the clock stands
 * at, as a limiter under a clock that stepped back would decide it (G9). It moves only when every request of
 * earlier instants is answered, so all threads decide at one time; at that time any order of them admits the
 * same number for each client, and the oracle, taking the lines one by one, must come to it too (G1, G2).
 */
import type { HotbucketError } from '../index.ts'
import { RateLimiter, SharedClock, tokenBucket } from '../index.ts'
import type { Entry, Unreadable } from '../log/access-log.ts'
import { parseLine } from '../log/access-log.ts'
import { Account } from './account.ts'
import { Client } from './client.ts'
import { InFlight } from './in-flight.ts'
import { MapBuckets } from './map-bucket.ts'
import { startServer } from './server.ts'

export const THREADS = 4
/** Requests under way at once. */
const CONCURRENCY = 32
/** Clients that may be short of a full bucket at once: some 7 MB. */
const MAX_KEYS = 262_144
/** Unreadable lines that are kept with their reasons. */
const NAMED = 5

export interface Settings {
  readonly limit: number
  readonly periodMs: number
  /** The module that the pool runs. */
  readonly worker: URL
  /** Called after each line. */
  readonly progress: (lines: number) => void
}

export interface Replayed {
  readonly account: Account
  lines: number
  unreadable: number
  /** The first few lines that are not log lines. */
  readonly named: { readonly line: number; readonly reason: string }[]
  stepsBack: number
  /** Requests for which the limiter had no slot: more clients at once than it was made for. */
  tableFull: number
  elapsedMs: number
}

/** One run's server, its limiter and the oracle; made at the first log line, whose time the clock begins at. */
class Stage {
  readonly #clock: SharedClock
  readonly #limiter: RateLimiter
  readonly #oracle: MapBuckets
  readonly #inFlight = new InFlight()
  readonly #startedMs = performance.now()
  readonly #client: Client
  readonly #close: () => Promise<void>
  #nowMs: number

  private constructor(clock: SharedClock, limiter: RateLimiter, oracle: MapBuckets, client: Client, close: () => Promise<void>) {
    this.#clock = clock
    this.#limiter = limiter
    this.#oracle = oracle
    this.#client = client
    this.#close = close
    this.#nowMs = clock.nowMs()
  }

  static async open({ limit, periodMs, worker }: Settings, startMs: number): Promise<Stage> {
    const clock = new SharedClock(startMs)
    const limiter = new RateLimiter({ policy: tokenBucket({ limit, periodMs }), maxKeys: MAX_KEYS, clock })
    const server = await startServer(worker, THREADS, { handle: limiter.handle, limit, periodMs })
    const client = new Client(server.port, CONCURRENCY)
    return new Stage(clock, limiter, new MapBuckets(limit, periodMs), client, () => server.close())
  }

  /** Sends `entry` once there is room, or says why its time cannot be played; enters the answers as they come. */
  async play(entry: Entry, account: Account): Promise<Unreadable | undefined> {
    if (entry.timeMs > this.#nowMs) {
      // Before the clock moves: a request of an earlier instant must not be decided at a later one.
      await this.#inFlight.atMost(0)
      if (!this.#moveTo(entry.timeMs)) return { reason: 'its time is decades after the first: no limiter counts that far' }
    }
    await this.#inFlight.atMost(CONCURRENCY - 1)
    const books = account.enter(entry.client, this.#nowMs, this.#oracle.allow(entry.client, this.#nowMs))
    const sent = this.#client.send(entry).then(({ admitted, mapAdmitted }) => {
      books.shared += Number(admitted)
      books.maps += Number(mapAdmitted)
    })
    this.#inFlight.add(sent)
    return undefined
  }

  /** Moves the clock, unless that is more than a limiter made at the log's first time can hold. */
  #moveTo(timeMs: number): boolean {
    this.#clock.set(timeMs)
    try {
      this.#limiter.peek('-')
    } catch (error) {
      if ((error as HotbucketError).code !== 'ERR_HOTBUCKET_CLOCK') throw error
      this.#clock.set(this.#nowMs)
      return false
    }
    this.#nowMs = timeMs
    return true
  }

  /** Waits for the last answers; returns the time since `open` and the limiter's count of keys it had no slot for. */
  async finish(): Promise<{ elapsedMs: number; tableFull: number }> {
    await this.#inFlight.atMost(0)
    return { elapsedMs: performance.now() - this.#startedMs, tableFull: this.#limiter.stats().tableFull }
  }

  async close(): Promise<void> {
    this.#client.close()
    await this.#close()
    this.#limiter.close()
  }
}

/** Replays `lines` to their end. Rejects where reading them does, or where the server fails. */
export async function replay(lines: AsyncIterable<string>, settings: Settings): Promise<Replayed> {
  const result: Replayed = {
    account: new Account(settings.periodMs),
    lines: 0,
    unreadable: 0,
    named: [],
    stepsBack: 0,
    tableFull: 0,
    elapsedMs: 0,
  }
  let stage: Stage | undefined
  let beforeMs = -Infinity
  try {
    for await (const line of lines) {
      result.lines++
      const entry = parseLine(line)
      if ('reason' in entry) {
        note(result, entry)
      } else {
        stage ??= await Stage.open(settings, entry.timeMs)
        const refusal = await stage.play(entry, result.account)
        if (refusal !== undefined) {
          note(result, refusal)
        } else {
          if (entry.timeMs < beforeMs) result.stepsBack++
          beforeMs = entry.timeMs
        }
      }
      settings.progress(result.lines)
    }
    if (stage !== undefined) Object.assign(result, await stage.finish())
  } finally {
    await stage?.close()
  }
  return result
}

function note(result: Replayed, { reason }: Unreadable): void {
  result.unreadable++
  if (result.named.length < NAMED) result.named.push({ line: result.lines, reason })
}
