/** The command line of the demo. */
import { parseArgs } from 'node:util'

export const USAGE = `Usage: npm start [-- [--limit N] [--per TIME] [FILE]]

Replays an access log (Common or Combined Log Format) against an HTTP server whose
4 workers share one limiter, and compares what they admit with one thread's answer.

  FILE         the log; a small sample of the project's own without it
  --limit N    requests a client may make per TIME, and at once (default 20)
  --per TIME   a whole number of ms, s, m, h or d, such as 500ms or 1m (default 1m)
  --help       this text

Exit code: 0 when both admit the same, 1 when not, 2 for a bad flag or file.
`

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export interface Flags {
  readonly help: boolean
  readonly limit: number
  /** As given, for the report. */
  readonly per: string
  readonly periodMs: number
  readonly file: string | undefined
}

/** What the user must change; the message says it all, no stack is shown. */
export class UsageError extends Error {}

function limitOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UsageError(`--limit is ${JSON.stringify(text)}: give a whole number from 0`)
}

function periodOf(text: string): number {
  const [, number, unit] = /^(\d*)(ms|s|m|h|d)$/.exec(text) ?? []
  const ms = number === undefined ? 0 : Number(number || 1) * UNITS[unit!]!
  if (ms > 0 && Number.isSafeInteger(ms)) return ms
  throw new UsageError(`--per is ${JSON.stringify(text)}: give a whole number above 0 and ms, s, m, h or d, such as 500ms or 1m`)
}

/** Reads the arguments after the script's name. Throws UsageError. */
export function parseFlags(args: readonly string[]): Flags {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) throw new UsageError(`one FILE at most, not ${positionals.length}: ${positionals.join(' ')}`)
  const per = values.per ?? '1m'
  return { help: values.help ?? false, limit: limitOf(values.limit ?? '20'), per, periodMs: periodOf(per), file: positionals[0] }
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
