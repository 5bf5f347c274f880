/** Threads that record histories together. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Policy } from '../../src/index.ts'
import { bench } from '../engines.ts'
import type { Engine } from '../engines.ts'
import type { Event } from './history.ts'

export interface Recording {
  readonly sync: Engine
  readonly policy: Policy
  readonly verbs: readonly Event['verb'][]
  /** Ticks at any moment, rather than only while all threads stand at a barrier. */
  readonly freeTicks: boolean
  readonly threads: number
  readonly count: number
  readonly seed: number
  readonly fault?: string | undefined
}

/** More keys than slots over all histories, so that slots are reclaimed, but not within one. */
const SHAPE = { keys: 2, pool: 24, rounds: 3, calls: 2, tickMs: 16, settleMs: 1_000, often: 0.4 }
const SLOTS = 8

export class Recorders {
  readonly #workers: readonly Worker[]

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers
  }

  static async of(size: number): Promise<Recorders> {
    const workers = Array.from({ length: size }, () => new Worker(new URL('recorder.mjs', import.meta.url)))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    return new Recorders(workers)
  }

  /** `count` histories on a new limiter. */
  async record({ sync, policy, threads, fault, ...rest }: Recording): Promise<Event[][]> {
    const { limiter } = bench(sync, policy, { startMs: 1_000, maxKeys: SLOTS, lockTimeoutMs: fault === undefined ? 50 : 1 })
    const shared = { ...SHAPE, ...rest, fault, handle: limiter.handle, size: threads, gate: new SharedArrayBuffer(8), sequence: new SharedArrayBuffer(4) }
    const lists = await Promise.all(
      this.#workers.slice(0, threads).map(async (worker, index) => {
        worker.postMessage({ ...shared, index })
        const [{ result, error }] = (await once(worker, 'message')) as [{ result: Event[][]; error?: string }]
        if (error !== undefined) throw new Error(`thread ${index}: ${error}`)
        return result
      }),
    )
    const { tableFull, contended } = limiter.stats()
    if (fault === undefined && tableFull + contended > 0) throw new Error(`table full ${tableFull} times, contended ${contended} times`)
    return lists[0]!.map((_, history) => lists.flatMap((list) => list[history]!))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}
