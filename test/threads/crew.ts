/** Real worker threads that do the same job at the same time, and can be used again for the next one. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What is wrong, on purpose, with the workers of a twin. */
export type Fault = 'load-store' | 'lost-wake-up' | 'endless-wait' | 'torn-counter' | 'stale-policy'

const file = new URL('../workers/crew.mjs', import.meta.url)

export class Crew {
  readonly #workers: readonly Worker[]

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers
  }

  static async of(size: number): Promise<Crew> {
    const workers = Array.from({ length: size }, () => new Worker(file))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    return new Crew(workers)
  }

  /**
   * Has `size` workers do `job` (a function of test/workers/jobs.mjs), all beginning behind one gate, and returns
   * what each of them returned.
   */
  async run<R>(job: string, data: Record<string, unknown>, { size = this.#workers.length, fault }: { size?: number; fault?: Fault | undefined } = {}): Promise<R[]> {
    const gate = new SharedArrayBuffer(8)
    return Promise.all(
      this.#workers.slice(0, size).map(async (worker, index) => {
        worker.postMessage({ job, data, index, size, gate, fault })
        const [{ result, error }] = (await once(worker, 'message')) as [{ result: R; error?: string }]
        if (error !== undefined) throw new Error(`worker ${index}: ${error}`)
        return result
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

/** The sum of each place over all workers' lists. */
export function sums(lists: readonly (readonly number[])[]): number[] {
  return (lists[0] ?? []).map((_, place) => lists.reduce((sum, list) => sum + (list[place] ?? 0), 0))
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
