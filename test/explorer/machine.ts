/**
 * The memory of a model: a real buffer, of which some byte ranges are shared between the actors, some are each
 * actor's own (counters that nobody decides on: a private copy from 0, no turn taken) and the rest never changes.
 * An image is the content of the shared ranges; equal contents have one number.
 */
import type { Access, Cell, View } from './access.ts'
import { perform } from './access.ts'

/** Bytes `from` up to, not including, `to`; multiples of 4. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export type Place = 'shared' | 'own' | 'constant'

export class Machine {
  readonly #cells: Int32Array
  readonly #shared: readonly ByteRange[]
  readonly #own: readonly ByteRange[]
  readonly #images: Int32Array[] = []
  readonly #numbers = new Map<string, number>()
  readonly #size: number
  #shown = -1

  constructor(buffer: SharedArrayBuffer, shared: readonly ByteRange[], own: readonly ByteRange[] = []) {
    this.#cells = new Int32Array(buffer)
    this.#shared = shared
    this.#own = own
    this.#size = shared.reduce((sum, { from, to }) => sum + (to - from) / 4, 0)
  }

  place(view: View, index: number): Place {
    const at = view.byteOffset + index * view.BYTES_PER_ELEMENT
    const within = ({ from, to }: ByteRange): boolean => at >= from && at < to
    if (this.#shared.some(within)) return 'shared'
    return this.#own.some(within) ? 'own' : 'constant'
  }

  /** The number of the buffer's present content. */
  capture(): number {
    const image = new Int32Array(this.#size)
    let at = 0
    for (const { from, to } of this.#shared) {
      image.set(this.#cells.subarray(from / 4, to / 4), at)
      at += (to - from) / 4
    }
    const key = image.join()
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#images.push(image) - 1
      this.#numbers.set(key, number)
    }
    return (this.#shown = number)
  }

  /** Puts an image back into the buffer. Call it with `again` after the buffer was written by other means. */
  show(number: number, again = false): void {
    if (number === this.#shown && !again) return
    const image = this.#images[number]!
    let at = 0
    for (const { from, to } of this.#shared) {
      const length = (to - from) / 4
      this.#cells.set(image.subarray(at, at + length), from / 4)
      at += length
    }
    this.#shown = number
  }

  /** Carries out an access on an image; gives its result and the image after it. */
  apply(number: number, view: View, access: Access): { result: Cell; image: number } {
    this.show(number)
    const result = perform(view, access)
    const reads = access.op === 'load' || access.op === 'read'
    const failed = access.op === 'compareExchange' && result !== access.args[0]
    return { result, image: reads || failed ? number : this.capture() }
  }
}
