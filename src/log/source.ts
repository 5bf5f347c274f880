/** A log as a stream of bytes: a file, a pipe or standard input, as it is or in gzip. */
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { addAbortSignal } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { UsageError } from './usage.ts'

const GZIP = [0x1f, 0x8b]
/** Bytes given to gunzip at once: what the slice with a fault would have yielded is all that is lost to the fault. */
const SLICE = 4_096

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ABORT_ERR') return 'interrupted'
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'Z_BUF_ERROR') return 'its gzip data ends too early'
  return code?.startsWith('Z_') === true ? `its gzip data is damaged (${message})` : message
}

/**
 * Inflates gzip, several members one after another too. Everything that could be inflated is yielded before a fault is
 * thrown: a stream that is ended while a write is under way would drop what that write yields.
 */
async function* inflated(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  const out: Buffer[] = []
  let fault: Error | undefined
  gunzip.on('data', (bytes: Buffer) => out.push(bytes))
  gunzip.on('error', (error) => (fault ??= error))
  // A write that meets a fault is never called back: the stream just closes.
  let wake = (): void => {}
  gunzip.once('close', () => wake())
  const woken = (act: (callback: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      act(resolve)
    })
  const written = async (slice: Buffer): Promise<void> => {
    await woken((callback) => gunzip.write(slice, callback))
    while (fault === undefined && gunzip.readableLength > 0) await turn()
  }
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length && fault === undefined; at += SLICE) {
        await written(chunk.subarray(at, at + SLICE))
        yield* out.splice(0)
      }
      if (fault !== undefined) throw fault
    }
    await woken(() => gunzip.end())
    yield* out
    if (fault !== undefined) throw fault
  } finally {
    gunzip.destroy()
  }
}

/** An open log. Its bytes are read once. */
export class Source {
  readonly name: string
  /** Bytes on disk; NaN for what has no size, such as a pipe. */
  readonly size: number
  /** Bytes read from the disk so far. */
  bytesRead = 0
  readonly #stream: AsyncIterable<Buffer>
  readonly #close: () => Promise<void>
  readonly #stop: AbortSignal | undefined
  #fault: string | undefined
  readonly #read: AsyncGenerator<Uint8Array>
  /** What `head` has taken. */
  readonly #held: Uint8Array[] = []

  /** `stop` is the signal that also ends `stream`. */
  constructor(name: string, size: number, stream: AsyncIterable<Buffer>, close: () => Promise<void>, stop?: AbortSignal) {
    this.name = name
    this.size = size
    this.#stream = stream
    this.#close = close
    this.#stop = stop
    this.#read = this.#inflated()
  }

  /** Why reading ended before the log did, or undefined. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** The first of the bytes, which stay in `chunks`; empty where there are none. */
  async head(): Promise<Uint8Array> {
    const { value } = this.#held.length > 0 ? { value: this.#held[0] } : await this.#read.next()
    if (value === undefined) return new Uint8Array(0)
    this.#held[0] = value as Uint8Array
    return this.#held[0]
  }

  /** The bytes, inflated if they are gzip by their first two. A fault ends them and is told by `fault`; nothing before it is lost. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#stop?.aborted !== true) yield* this.#held.splice(0)
    yield* this.#read
  }

  async *#inflated(): AsyncGenerator<Uint8Array> {
    try {
      const raw = this.#counted()
      let head: Buffer = Buffer.alloc(0)
      while (head.length < GZIP.length) {
        const next = await raw.next()
        if (next.done === true) break
        head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
      }
      const all = (async function* () {
        yield head
        yield* raw
      })()
      yield* GZIP.every((byte, at) => head[at] === byte) ? inflated(all) : all
    } catch (error) {
      this.#fault = reasonOf(error)
    }
  }

  async close(): Promise<void> {
    await this.#close()
  }

  async *#counted(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#stream) {
      this.bytesRead += chunk.length
      yield chunk
    }
  }
}

/**
 * Opens `file`, or `stdin` for `-`, once and for all, since a pipe cannot be opened twice. `stop` ends the reading, with a
 * fault that says so; a stream for `stdin` is the caller's to end. Throws UsageError where it cannot be read.
 */
export async function openSource(file: string, stdin: AsyncIterable<Buffer>, stop?: AbortSignal): Promise<Source> {
  if (file === '-') return new Source('standard input', NaN, stdin, async () => {}, stop)
  const handle: FileHandle = await open(file).catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${reasonOf(error)}`)
  })
  const stat = await handle.stat()
  if (stat.isDirectory()) {
    await handle.close()
    throw new UsageError(`cannot read ${file}: it is a directory`)
  }
  const stream = handle.createReadStream({ autoClose: false, highWaterMark: 262_144 })
  if (stop !== undefined) addAbortSignal(stop, stream)
  return new Source(file, stat.isFile() ? stat.size : NaN, stream as AsyncIterable<Buffer>, () => handle.close(), stop)
}
