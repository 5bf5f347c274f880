/** The demo as a function: arguments in, text and exit code out. */
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tokenBucket } from '../index.ts'
import type { Flags } from './flags.ts'
import { parseFlags, USAGE, UsageError } from './flags.ts'
import { linesOf } from './lines.ts'
import { Progress } from './progress.ts'
import { replay } from './replay.ts'
import { exitCodeOf, report } from './report.ts'

/** Reachable from `src/demo` and from `dist/demo` alike. */
const SAMPLE = fileURLToPath(new URL('../../src/demo/sample.log', import.meta.url))

export interface Surroundings {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly terminal: NodeJS.WriteStream
  /** The module that the pool runs; tests put a faulty one in its place. */
  readonly worker: URL
}

/** Throws UsageError for a policy that the limiter refuses. */
function checkPolicy({ limit, periodMs }: Flags): void {
  try {
    tokenBucket({ limit, periodMs })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

interface OpenLog {
  readonly handle: FileHandle
  /** Bytes; NaN for what has no size, such as a pipe. */
  readonly size: number
}

/** Opens `file` once and for all, since a pipe cannot be opened twice. Throws UsageError where it cannot be read. */
async function openLog(file: string): Promise<OpenLog> {
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  const stat = await handle.stat()
  if (!stat.isDirectory()) return { handle, size: stat.isFile() ? stat.size : NaN }
  await handle.close()
  throw new UsageError(`cannot read ${file}: it is a directory`)
}

function unreadable(file: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException
  return new UsageError(`cannot read ${file}: ${code === 'ENOENT' ? 'there is no such file' : message}`)
}

/** The lines of `file`; reading that fails throws UsageError. */
async function* linesIn(stream: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<string> {
  const lines = linesOf(stream)[Symbol.asyncIterator]()
  for (;;) {
    const next = await lines.next().catch((error: unknown) => {
      throw unreadable(file, error)
    })
    if (next.done === true) return
    yield next.value
  }
}

async function run(args: readonly string[], { out, terminal, worker }: Surroundings): Promise<number> {
  const flags = parseFlags(args)
  if (flags.help) {
    out(USAGE)
    return 0
  }
  checkPolicy(flags)
  const file = flags.file ?? SAMPLE
  const { handle, size } = await openLog(file)
  const stream = handle.createReadStream()
  const bar = new Progress(terminal)
  try {
    const progress = (lines: number): void => bar.draw(lines, stream.bytesRead / size)
    const replayed = await replay(linesIn(stream, file), { limit: flags.limit, periodMs: flags.periodMs, worker, progress })
    bar.clear()
    out(report(basename(file), flags, replayed))
    return exitCodeOf(replayed.account)
  } finally {
    bar.clear()
    stream.destroy()
  }
}

/** Runs the demo; returns the exit code. */
export async function command(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await run(args, surroundings)
  } catch (error) {
    if (error instanceof UsageError) {
      surroundings.err(`${error.message}\nTry --help.\n`)
      return 2
    }
    surroundings.err(`The replay failed: ${String(error)}\n`)
    return 1
  }
}
