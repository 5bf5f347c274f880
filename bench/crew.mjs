/** Workers that run one subject together, seen from the main thread, whose event loop stays free to serve them. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { drawing } from './keys.mjs'
import { checkTotal } from './shapes.mjs'
import { subjectOf } from './subjects.mjs'

const seatFile = new URL('./seat.mjs', import.meta.url)

function answer(worker) {
  return new Promise((resolve, reject) => {
    const settle = (message) => {
      worker.off('error', reject)
      if (message.error !== undefined) reject(message.error)
      else resolve(message)
    }
    worker.once('message', settle)
    worker.once('error', reject)
  })
}

export class Crew {
  #workers
  #gate
  #start
  #last = []

  constructor(subject, shape, shared, workers, gate, start) {
    this.subject = subject
    this.shape = shape
    this.shared = shared
    this.#workers = workers
    this.#gate = gate
    this.#start = start
  }

  /** `size` seats with one subject on one shape. `remoteOf(seat)` gives what a remote subject needs in each. */
  static async muster(id, shape, size, remoteOf) {
    const subject = remoteOf === undefined ? await subjectOf(id) : { id, remote: true }
    const shared = subject.share?.(shape)
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const start = new BigInt64Array(new SharedArrayBuffer(8))
    const workers = await Promise.all(
      Array.from({ length: size }, async (_, seat) => {
        const { remote, transferList = [] } = remoteOf?.(seat) ?? {}
        const worker = new Worker(seatFile, { workerData: { id, shape, shared, seat, gate, start, remote, drawn: drawing(shape) }, transferList })
        await answer(worker)
        return worker
      }),
    )
    const crew = new Crew(subject, shape, shared, workers, gate, start)
    if (!subject.remote) await crew.turn({ kind: 'prime' }, 1)
    return crew
  }

  /** The first `size` seats take the same turn at once; their results, in order of seat. */
  async turn(order, size = this.#workers.length) {
    const gate = this.#gate[0]
    const workers = this.#workers.slice(0, size)
    const ready = workers.map(answer)
    for (const worker of workers) worker.postMessage({ ...order, gate })
    await Promise.all(ready)
    const answers = workers.map(answer)
    Atomics.store(this.#start, 0, process.hrtime.bigint())
    Atomics.store(this.#gate, 0, gate + 1)
    Atomics.notify(this.#gate, 0)
    const results = (await Promise.all(answers)).map(({ result }) => result)
    results.forEach((result, seat) => (this.#last[seat] = result))
    return results
  }

  /**
   * One turn by the clock: what each call cost its thread, calls a second in all, and how evenly they fell. `given`
   * is the share of the cores' time that this process had of what it could have used: others on the machine took the rest.
   */
  async race(ms, size) {
    const before = this.retries
    const used = process.cpuUsage()
    const results = await this.turn({ kind: 'loop', ms }, size)
    const { user, system } = process.cpuUsage(used)
    const could = Math.min(results.length, availableParallelism()) * ms * 1_000
    const calls = results.map((result) => result.calls)
    const sum = (field) => results.reduce((total, each) => total + each[field], 0)
    const total = sum('calls')
    // From the common start to the last seat's end, less the share in which keys were made.
    const perSecond = (total * 1e9) / (Math.max(...results.map(({ spanNs }) => spanNs)) * (sum('busyNs') / sum('ownNs')))
    return {
      ns: (1e9 * results.length) / perSecond,
      perSecond,
      fairness: Math.min(...calls) / Math.max(...calls),
      retries: (this.retries - before) / total,
      given: Math.min(1, (user + system) / could),
    }
  }

  /** Lost exchanges so far. */
  get retries() {
    if (this.subject.stats !== undefined) return this.subject.stats(this.shared).casRetries
    return this.#last.reduce((sum, { retries }) => sum + retries, 0)
  }

  /** Throws unless the admitted totals are right; called before any figure of this crew is believed. */
  check() {
    const totals = this.#last.map((result) => result.totals)
    const sum = (field) => totals.reduce((total, each) => total + each[field], 0)
    const counted = { calls: sum('calls'), admitted: sum('admitted'), elapsedMs: Math.max(...totals.map((each) => each.elapsedMs)) }
    if (this.subject.bare || this.subject.remote) return counted
    checkTotal(this.subject, this.shape, counted)
    const stats = this.subject.stats?.(this.shared)
    if (stats !== undefined && (stats.allowed !== counted.admitted || stats.denied !== counted.calls - counted.admitted)) {
      throw new Error(`${this.subject.id}, ${this.shape.title}: its own counts disagree with its callers'; no figure is printed`)
    }
    if (stats?.tableFull > 0) throw new Error(`${this.subject.id}, ${this.shape.title}: the table was full; no figure is printed`)
    return counted
  }

  /** The crew's last act. */
  async end() {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}
