/** The demo as a function: arguments in, text and exit code out. */
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tokenBucket } from '../index.ts'
import { linesOf } from '../log/lines.ts'
import { Progress } from '../log/progress.ts'
import { openSource } from '../log/source.ts'
import { UsageError } from '../log/usage.ts'
import type { Flags } from './flags.ts'
import { parseFlags, USAGE } from './flags.ts'
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

async function run(args: readonly string[], { out, err, terminal, worker }: Surroundings): Promise<number> {
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
    const replayed = await replay(linesOf(source.chunks()), { limit: flags.limit, periodMs: flags.periodMs, worker, progress })
    bar.clear()
    out(report(basename(file), flags, replayed))
    if (source.fault === undefined) return exitCodeOf(replayed.account)
    err(`Reading ${file} ended early: ${source.fault}\n`)
    return 1
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
