/** The command line of the demo. */
import { parseArgs } from 'node:util'
import { periodOf, UsageError, wholeOf } from '../log/usage.ts'

export const USAGE = `Usage: npm start [-- [--limit N] [--per TIME] [FILE]]

Replays an access log (Common or Combined Log Format) against an HTTP server whose
4 workers share one limiter, and compares what they admit with one thread's answer.

  FILE         the log; a small sample of the project's own without it
  --limit N    requests a client may make per TIME, and at once (default 20)
  --per TIME   a whole number of ms, s, m, h or d, such as 500ms or 1m (default 1m)
  --help       this text

Exit code: 0 when both admit the same, 1 when not, 2 for a bad flag or file.
`

export interface Flags {
  readonly help: boolean
  readonly limit: number
  /** As given, for the report. */
  readonly per: string
  readonly periodMs: number
  readonly file: string | undefined
}

/** Reads the arguments after the script's name. Throws UsageError. */
export function parseFlags(args: readonly string[]): Flags {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) throw new UsageError(`one FILE at most, not ${positionals.length}: ${positionals.join(' ')}`)
  const per = values.per ?? '1m'
  return { help: values.help ?? false, limit: wholeOf('--limit', values.limit ?? '20'), per, periodMs: periodOf('--per', per), file: positionals[0] }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { limit: { type: 'string' }, per: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
