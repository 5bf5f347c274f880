/**
 * The memory of a model: a real buffer, of which some byte ranges are shared between the actors, some are each
 * actor's own (counters that nobody decides on: a private copy from 0, no turn taken) and the rest never changes.
 * An image is the content of the shared ranges; equal contents have one number.
 */
import type { Access, Cell, Type, View } from './access.ts'
import { perform } from './access.ts'
import { Numbering } from './numbering.ts'

/** Bytes `from` up to, not including, `to`; multiples of 4. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export type Place = 'shared' | 'own' | 'constant'

export class Machine {
  /** The whole buffer under each type. */
  readonly views: Readonly<Record<Type, View>>
  readonly #cells: Int32Array
  readonly #shared: readonly ByteRange[]
  /** By 32-bit cell. */
  readonly #places: Place[]
  readonly #images: Numbering
  /** The content of the shared ranges, while it is captured. */
  readonly #content: Int32Array
  #shown = -1

  constructor(buffer: SharedArrayBuffer, shared: readonly ByteRange[], own: readonly ByteRange[] = []) {
    this.#cells = new Int32Array(buffer, 0, Math.floor(buffer.byteLength / 4))
    const words = Math.floor(buffer.byteLength / 8)
    this.views = { i32: this.#cells, i64: new BigInt64Array(buffer, 0, words), f64: new Float64Array(buffer, 0, words) }
    this.#shared = shared
    this.#places = Array<Place>(this.#cells.length).fill('constant')
    for (const { from, to } of own) this.#places.fill('own', from / 4, to / 4)
    for (const { from, to } of shared) this.#places.fill('shared', from / 4, to / 4)
    this.#content = new Int32Array(shared.reduce((sum, { from, to }) => sum + (to - from) / 4, 0))
    this.#images = new Numbering(this.#content.length)
  }

  place(type: Type, index: number): Place {
    return this.#places[type === 'i32' ? index : 2 * index] ?? 'constant'
  }

  /** The number of the buffer's present content. */
  capture(): number {
    let at = 0
    for (const { from, to } of this.#shared) {
      for (let cell = from / 4; cell < to / 4; cell++) this.#content[at++] = this.#cells[cell]!
    }
    return (this.#shown = this.#images.of(this.#content))
  }

  /** Puts an image back into the buffer. Call it with `again` after the buffer was written by other means. */
  show(number: number, again = false): void {
    if (number === this.#shown && !again) return
    const image = this.#images.at(number)
    let at = 0
    for (const { from, to } of this.#shared) {
      for (let cell = from / 4; cell < to / 4; cell++) this.#cells[cell] = image[at++]!
    }
    this.#shown = number
  }

  /** Carries out an access on an image; gives its result and the image after it. */
  apply(number: number, access: Access): { result: Cell; image: number } {
    this.show(number)
    const result = perform(this.views[access.type], access)
    const reads = access.op === 'load' || access.op === 'read'
    return { result, image: reads ? number : this.capture() }
  }
}
