/** A limiter at work, to be looked at: four workers, light traffic from a log, and bursts on demand. */
import { Piscina } from 'piscina'
import { systemClock } from '../clock/clock.ts'
import { RateLimiter, SharedClock, tokenBucket } from '../index.ts'
import { RefusedKeys } from '../metrics/sketch.ts'
import type { LiveAnswer, LiveSetup, LiveTask, Tier } from './live-worker.ts'
import { workerFlags } from './worker-flags.ts'

export const WORKERS = 4
/** Small, so that the page shows a table filling up. */
const MAX_KEYS = 300
const TICK_MS = 100
/** Requests of the log that are sent at each tick: one for each worker. */
const PER_TICK = WORKERS

interface Tally {
  admitted: number
  refused: number
}

/** What one press of the button came to. */
export interface BurstResult {
  readonly tier: Tier
  readonly limit: number
  readonly requests: number
  readonly hotbucket: number
  readonly maps: number
  /** By worker, in their order. */
  readonly workers: readonly { readonly hotbucket: number; readonly maps: number }[]
}

/** All that the page shows; counts are since the start, and the page makes rates of them. */
export interface LiveState {
  readonly elapsedMs: number
  readonly limits: Readonly<Record<Tier, number>>
  readonly per: string
  readonly tiers: Readonly<Record<Tier, Readonly<Tally>>>
  readonly workers: readonly Readonly<Tally>[]
  readonly refusedKeys: readonly { readonly key: string; readonly count: number }[]
  readonly table: { readonly keys: number; readonly capacity: number; readonly bytes: number }
  readonly traffic: boolean
  /** How often that was set. */
  readonly switched: number
}

export interface LiveOptions {
  readonly limit: number
  readonly per: string
  readonly periodMs: number
  /** Clients of a log, in its order; sent over and over. */
  readonly clients: readonly string[]
  readonly worker: URL
}

export class Live {
  #traffic = true
  #switched = 0
  readonly #options: LiveOptions
  readonly #limits: Readonly<Record<Tier, number>>
  readonly #clock = new SharedClock(0)
  readonly #limiter: RateLimiter<Tier>
  readonly #pool: Piscina<LiveTask, LiveAnswer>
  readonly #startedMs = systemClock.nowMs()
  readonly #tiers = { free: { admitted: 0, refused: 0 }, pro: { admitted: 0, refused: 0 } }
  /** By thread id; filled before anything is asked of them. */
  readonly #workers = new Map<number, Tally>()
  readonly #refused = new RefusedKeys(100)
  /** One piece of work at a time: the clock stands while requests are under way. */
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #busy = false
  #next = 0
  #bursts = 0

  private constructor(options: LiveOptions) {
    this.#options = options
    const { limit, periodMs } = options
    this.#limits = { free: limit, pro: limit * 5 }
    const tiers = { free: tokenBucket({ limit, periodMs }), pro: tokenBucket({ limit: limit * 5, periodMs }) }
    this.#limiter = new RateLimiter({ tiers, maxKeys: MAX_KEYS, clock: this.#clock })
    const setup: LiveSetup = { handle: this.#limiter.handle, limits: this.#limits, periodMs }
    this.#pool = new Piscina({ filename: options.worker.href, minThreads: WORKERS, maxThreads: WORKERS, idleTimeout: Infinity, execArgv: workerFlags, workerData: setup })
  }

  /** Ready when every worker has answered once. */
  static async start(options: LiveOptions): Promise<Live> {
    const live = new Live(options)
    while (live.#workers.size < WORKERS) {
      const answers = await Promise.all(Array.from({ length: WORKERS }, () => live.#pool.run({ tier: 'free' })))
      for (const { worker } of answers) live.#workers.set(worker, live.#workers.get(worker) ?? { admitted: 0, refused: 0 })
    }
    live.#timer = setInterval(() => live.#tick(), TICK_MS)
    return live
  }

  get state(): LiveState {
    const { keys, capacity, bytes } = this.#limiter.stats()
    return {
      elapsedMs: systemClock.nowMs() - this.#startedMs,
      limits: this.#limits,
      per: this.#options.per,
      tiers: this.#tiers,
      workers: this.#ids.map((id) => this.#workers.get(id)!),
      refusedKeys: this.#refused.top(8).map(({ key, count }) => ({ key, count })),
      table: { keys, capacity, bytes },
      traffic: this.#traffic,
      switched: this.#switched,
    }
  }

  /** Turns the light traffic on or off; returns how often that has been done. */
  switchTraffic(on: boolean): number {
    this.#traffic = on
    return ++this.#switched
  }

  /**
   * A new client of `tier` asks all workers at once, more often than the limit of any of them. Each round is one
   * request for every worker, and the clock stands meanwhile, so that the two totals are exact: the limit once, and
   * once for every worker.
   */
  burst(tier: Tier): Promise<BurstResult> {
    return this.#inTurn(async () => {
      const limit = this.#limits[tier]
      const key = `burst ${++this.#bursts} (${tier})`
      const rounds = Math.ceil(limit * 1.5) + 1
      const byWorker = new Map(this.#ids.map((id) => [id, { hotbucket: 0, maps: 0 }]))
      for (let round = 0; round < rounds; round++) {
        const answers = await Promise.all(Array.from({ length: WORKERS }, () => this.#ask(key, tier)))
        for (const { worker, admitted, mapAdmitted } of answers) {
          const counts = byWorker.get(worker)!
          counts.hotbucket += Number(admitted)
          counts.maps += Number(mapAdmitted)
        }
      }
      const workers = [...byWorker.values()]
      const sum = (which: 'hotbucket' | 'maps'): number => workers.reduce((all, counts) => all + counts[which], 0)
      return { tier, limit, requests: rounds * WORKERS, hotbucket: sum('hotbucket'), maps: sum('maps'), workers }
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#turn.catch(() => {})
    await this.#pool.destroy()
    this.#limiter.close()
  }

  get #ids(): number[] {
    return [...this.#workers.keys()].sort((a, b) => a - b)
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#turn.then(() => {
      // Whole milliseconds, as the Maps count.
      this.#clock.set(Math.floor(systemClock.nowMs() - this.#startedMs))
      return work()
    })
    this.#turn = result.catch(() => {})
    return result
  }

  #tick(): void {
    const { clients } = this.#options
    if (this.#busy || !this.#traffic || clients.length === 0) return
    this.#busy = true
    void this.#inTurn(async () => {
      const sent = Array.from({ length: PER_TICK }, () => clients[this.#next++ % clients.length]!)
      // Every eighth client has paid, by nothing but its name.
      await Promise.all(sent.map((client) => this.#ask(client, client.charCodeAt(client.length - 1) % 8 === 0 ? 'pro' : 'free')))
    }).finally(() => (this.#busy = false))
  }

  async #ask(key: string, tier: Tier): Promise<LiveAnswer> {
    const answer = await this.#pool.run({ key, tier })
    const which = answer.admitted ? 'admitted' : 'refused'
    this.#tiers[tier][which]++
    this.#workers.get(answer.worker)![which]++
    if (!answer.admitted) this.#refused.add(key)
    return answer
  }
}
