/** Numbers from 0 for vectors of 32-bit integers of one length: equal vectors have one number. */
export class Numbering {
  readonly #length: number
  #vectors: Int32Array
  /** Of each number, what its vector was mixed to. */
  #mixes = new Int32Array(64)
  /** Open addressing by that mix, a power of two large and at most half full: a number + 1, or 0. */
  #table = new Int32Array(128)
  #size = 0

  constructor(length: number) {
    this.#length = length
    this.#vectors = new Int32Array(64 * length)
  }

  /** How many different vectors there are. */
  get size(): number {
    return this.#size
  }

  /** The number of `vector`: `size`, as it was before, if it is new. */
  of(vector: Int32Array): number {
    let mix = 0
    for (let i = 0; i < this.#length; i++) {
      mix = Math.imul(mix ^ vector[i]!, 0x85ebca6b)
      mix ^= mix >>> 15
    }
    let at = mix & (this.#table.length - 1)
    for (let held; (held = this.#table[at]!) !== 0; at = (at + 1) & (this.#table.length - 1)) {
      if (this.#mixes[held - 1] === mix && this.#equals(held - 1, vector)) return held - 1
    }
    if (this.#size === this.#mixes.length) {
      this.#grow()
      return this.of(vector)
    }
    this.#table[at] = this.#size + 1
    this.#mixes[this.#size] = mix
    this.#vectors.set(vector, this.#size * this.#length)
    return this.#size++
  }

  /** The vector of a number, to be read. */
  at(number: number): Int32Array {
    return this.#vectors.subarray(number * this.#length, (number + 1) * this.#length)
  }

  #equals(number: number, vector: Int32Array): boolean {
    const vectors = this.#vectors
    const from = number * this.#length
    for (let i = 0; i < this.#length; i++) if (vectors[from + i] !== vector[i]) return false
    return true
  }

  #grow(): void {
    const doubled = (cells: Int32Array): Int32Array<ArrayBuffer> => {
      const next = new Int32Array(2 * cells.length)
      next.set(cells)
      return next
    }
    this.#vectors = doubled(this.#vectors)
    this.#mixes = doubled(this.#mixes)
    const table = (this.#table = new Int32Array(2 * this.#table.length))
    for (let number = 0; number < this.#size; number++) {
      let at = this.#mixes[number]! & (table.length - 1)
      while (table[at] !== 0) at = (at + 1) & (table.length - 1)
      table[at] = number + 1
    }
  }
}
