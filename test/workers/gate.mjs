/** A barrier in shared memory: cell 0 counts arrivals, cell 1 is the number of the round. */
export class Gate {
  #cells
  #size

  constructor(buffer, size) {
    this.#cells = new Int32Array(buffer)
    this.#size = size
  }

  /** Returns in all threads as soon as all are here. */
  meet() {
    const cells = this.#cells
    const round = load(cells, 1)
    if (add(cells, 0, 1) === this.#size - 1) {
      store(cells, 0, 0)
      add(cells, 1, 1)
      notify(cells, 1)
      return
    }
    while (load(cells, 1) === round) wait(cells, 1, round)
  }
}

// Held before any twin breaks them: the gate is never part of the fault.
const { load, add, store, notify, wait } = Atomics
