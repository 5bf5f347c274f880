/** The demo as a function: arguments in, text and exit code out. */
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tokenBucket } from '../index.ts'
import { parseLine } from '../log/access-log.ts'
import { linesOf } from '../log/lines.ts'
import { Progress } from '../log/progress.ts'
import { openSource } from '../log/source.ts'
import { UsageError } from '../log/usage.ts'
import type { Flags } from './flags.ts'
import { parseFlags, USAGE } from './flags.ts'
import { replay } from './replay.ts'
import { exitCodeOf, report } from './report.ts'
import { KEPT, serve } from './serve.ts'

/** Reachable from `src/demo` and from `dist/demo` alike. */
const SAMPLE = fileURLToPath(new URL('../../src/demo/sample.log', import.meta.url))

export interface Surroundings {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly terminal: NodeJS.WriteStream
  /** The module that the pool runs; tests put a faulty one in its place. */
  readonly worker: URL
  /** The module that the live page's pool runs. */
  readonly liveWorker: URL
  /** Waits for the signal that ends the live page. */
  readonly stopped: () => Promise<unknown>
}

/** Throws UsageError for a policy that the limiter refuses. */
function checkPolicy({ limit, periodMs }: Flags): void {
  try {
    tokenBucket({ limit, periodMs })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The same lines; keeps the clients of the first ones for the live page's traffic. */
async function* keeping(lines: AsyncIterable<string>, clients: string[]): AsyncGenerator<string> {
  for await (const line of lines) {
    const entry = clients.length < KEPT ? parseLine(line) : undefined
    // A copy: the address is part of a line, which it would keep alive.
    if (entry !== undefined && !('reason' in entry)) clients.push(Buffer.from(entry.client, 'latin1').toString('latin1'))
    yield line
  }
}

async function run(args: readonly string[], { out, err, terminal, worker, liveWorker, stopped }: Surroundings): Promise<number> {
  const flags = parseFlags(args)
  if (flags.help) {
    out(USAGE)
    return 0
  }
  checkPolicy(flags)
  const file = flags.file ?? SAMPLE
  const source = await openSource(file, process.stdin)
  const bar = new Progress(terminal)
  try {
    const progress = (lines: number): void => bar.draw(lines, source.bytesRead / source.size)
    const clients: string[] = []
    const lines = flags.serve ? keeping(linesOf(source.chunks()), clients) : linesOf(source.chunks())
    const replayed = await replay(lines, { limit: flags.limit, periodMs: flags.periodMs, worker, progress })
    bar.clear()
    out(report(basename(file), flags, replayed))
    if (source.fault !== undefined) err(`Reading ${file} ended early: ${source.fault}\n`)
    if (flags.serve) await serve(flags, clients, { out, worker: liveWorker, stopped: stopped() })
    return source.fault === undefined ? exitCodeOf(replayed.account) : 1
  } finally {
    bar.clear()
    await source.close()
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
