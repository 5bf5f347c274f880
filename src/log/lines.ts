/** The lines of a byte stream, in memory that does not grow with the file or with a line. */

/** Bytes of a line that are kept; what follows them, up to the line's end, is dropped. */
export const LONGEST_LINE = 32_768

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/**
 * Yields the lines that each chunk ends, each without its end (`\n` or `\r\n`); a last line may lack one. Bytes become
 * the characters 0 to 255, so that whatever the file holds survives. A longer line than `longest` is cut to
 * `longest + 1` bytes, by which its reader knows.
 */
export async function* batchesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, longest = LONGEST_LINE): AsyncGenerator<string[]> {
  let held = ''
  let first = true
  const finished = (): string => {
    const line = first && held.startsWith(BYTE_ORDER_MARK) ? held.slice(BYTE_ORDER_MARK.length) : held
    held = ''
    first = false
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const hold = (from: number, to: number): void => {
      held += chunk.toString('latin1', from, Math.min(to, from + longest + 1 - held.length))
    }
    const batch: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      hold(start, end)
      batch.push(finished())
      start = end + 1
    }
    hold(start, chunk.length)
    if (batch.length > 0) yield batch
  }
  if (held !== '') yield [finished()]
}

/** The lines of `batchesOf`, one by one. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, longest = LONGEST_LINE): AsyncGenerator<string> {
  for await (const batch of batchesOf(chunks, longest)) yield* batch
}
