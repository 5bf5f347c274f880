/** One line on a terminal that says how far the replay is; nothing at all elsewhere. */
import { systemClock } from '../clock/clock.ts'

const EVERY_MS = 100

export class Progress {
  readonly #terminal: NodeJS.WriteStream | undefined
  #drawnMs = -Infinity

  constructor(stream: NodeJS.WriteStream) {
    this.#terminal = stream.isTTY ? stream : undefined
  }

  /** Draws `lines`, and the share of the file read unless its size is unknown, at most ten times a second. */
  draw(lines: number, share: number): void {
    if (this.#terminal === undefined || systemClock.nowMs() - this.#drawnMs < EVERY_MS) return
    this.#drawnMs = systemClock.nowMs()
    const percent = Number.isFinite(share) ? ` (${Math.floor(share * 100)}% of the file)` : ''
    this.#terminal.write(`\r\x1b[K  replayed ${lines.toLocaleString('en-US')} lines${percent}`)
  }

  /** Wipes the line. */
  clear(): void {
    this.#terminal?.write('\r\x1b[K')
  }
}
