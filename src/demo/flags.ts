/** The command line of the demo. */
import { parseArgs } from 'node:util'
import { periodOf, UsageError, wholeOf } from '../log/usage.ts'

export const USAGE = `Usage: npm start [-- [--limit N] [--per TIME] [--serve [--port N]] [FILE]]

Replays an access log (Common or Combined Log Format) against an HTTP server whose
4 workers share one limiter, and compares what they admit with one thread's answer.

  FILE         the log; a small sample of the project's own without it
  --limit N    requests a client may make per TIME, and at once (default 20)
  --per TIME   a whole number of ms, s, m, h or d, such as 500ms or 1m (default 1m)
  --serve      stays up with a live page after the table: who is being limited, and a
               button that sends a burst
  --port N     the page's port on this machine (default 8330; 0 for any free one)
  --help       this text

Exit code: 0 when both admit the same, 1 when not, 2 for a bad flag or file.
`

export interface Flags {
  readonly help: boolean
  readonly limit: number
  /** As given, for the report. */
  readonly per: string
  readonly periodMs: number
  readonly serve: boolean
  readonly port: number
  readonly file: string | undefined
}

/** Reads the arguments after the script's name. Throws UsageError. */
export function parseFlags(args: readonly string[]): Flags {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) throw new UsageError(`one FILE at most, not ${positionals.length}: ${positionals.join(' ')}`)
  const per = values.per ?? '1m'
  const serve = values.serve ?? false
  if (values.port !== undefined && !serve) throw new UsageError('--port is the live page\'s: give --serve too')
  const port = wholeOf('--port', values.port ?? '8330')
  if (port > 65_535) throw new UsageError(`--port is ${port}: at most 65535`)
  const limit = wholeOf('--limit', values.limit ?? '20')
  if (serve && (limit < 1 || limit > 1_000)) throw new UsageError(`--limit is ${limit}: the live page's burst takes 1 to 1000`)
  return { help: values.help ?? false, limit, per, periodMs: periodOf('--per', per), serve, port, file: positionals[0] }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { limit: { type: 'string' }, per: { type: 'string' }, serve: { type: 'boolean' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
