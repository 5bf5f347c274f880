/** Four threads, of which any but the first can be killed and replaced. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export const SIZE = 4

export class Crew {
  #members = []

  /** Fills the crew up; resolves when all have started. */
  async fill() {
    while (this.#members.length < SIZE) {
      const worker = new Worker(new URL('worker.mjs', import.meta.url))
      this.#members.push({ worker, ready: once(worker, 'message') })
    }
    await Promise.all(this.#members.map(({ ready }) => ready))
  }

  /** Has member `index` take part in `round`; resolves to what it tells, or how it ended. */
  start(index, round) {
    const { worker } = this.#members[index]
    worker.postMessage(round)
    return new Promise((resolve) => {
      const settle = (outcome) => {
        worker.off('message', settle).off('error', failed).off('exit', left)
        resolve(outcome)
      }
      const failed = (error) => settle({ error: error.stack ?? String(error) })
      const left = (code) => settle({ exited: code })
      worker.on('message', settle).on('error', failed).on('exit', left)
    })
  }

  /** Ends a member between any two of its instructions. */
  async kill(index) {
    await this.#members[index].worker.terminate()
  }

  /** Puts a new member in the place of one that was killed. */
  async replace(index) {
    const next = new Worker(new URL('worker.mjs', import.meta.url))
    this.#members[index] = { worker: next, ready: once(next, 'message') }
    await this.#members[index].ready
  }

  /** Lets all go by themselves. */
  end() {
    for (const { worker } of this.#members) worker.postMessage('end')
  }

  /** For members that no longer listen. */
  async abandon() {
    await Promise.all(this.#members.splice(0).map(({ worker }) => worker.terminate()))
  }
}
