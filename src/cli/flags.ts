/** The command line of `hotbucket`. */
import { parseArgs } from 'node:util'
import { UsageError, wholeOf } from '../log/usage.ts'
import type { NamedPolicy } from './policy-text.ts'
import { policyOf } from './policy-text.ts'
import type { Reader } from './reader.ts'
import { readerOf } from './reader.ts'

export const USAGE = `Usage: hotbucket replay [--policy POLICY]... [--key KEY] [--svg FILE] [--json] FILE...

Runs access logs through rate limits, and says which limit would have stopped whom.

  FILE             access logs (Common or Combined Log Format), gzip or not, in any order: they
                   are run oldest first. - is standard input; with it, give them in order
  --policy POLICY  a limit to try, in quotes; several at once. One of
                     'token-bucket limit=60 per=1m burst=20'
                     'fixed-window limit=60 window=1m'          (anchored=first: from a key's first request)
                     'sliding-window-counter limit=60 window=1m'
                     'sliding-window-log limit=60 window=1m'
                   Times are whole numbers of ms, s, m, h or d. Without any: token buckets
                   of 30, 60 and 120 a minute.
  --key KEY        who is limited: address (the default), path, user, or a regular expression
                   whose first group is the key, such as '/[?&]api_key=(\\w+)/'
  --fields FIELDS  the files are JSON lines, with the time and the key in these fields:
                   'time=ts key=client.ip'; the key may be --key /expression/ instead
  --top N          worst-hit clients shown for each policy (default 5, at most 1000)
  --svg FILE       draws the findings
  --json           prints the findings as JSON
  --help           this text
  --version        the version

Exit code: 0 when everything was read, 1 when a file ended early or had no request in it,
2 for a bad flag or file, 130 after Ctrl+C, with a partial report on what was read until then.
`

const DEFAULTS = [30, 60, 120].map((limit) => `token-bucket limit=${limit} per=1m`)
/** Each takes memory of its own. */
const MOST_POLICIES = 16

export type Flags =
  | { readonly show: 'help' | 'version' }
  | {
      readonly show?: undefined
      readonly files: readonly string[]
      readonly policies: readonly NamedPolicy[]
      readonly reader: Reader
      readonly top: number
      readonly svg: string | undefined
      readonly json: boolean
    }

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        policy: { type: 'string', multiple: true },
        key: { type: 'string' },
        fields: { type: 'string' },
        top: { type: 'string' },
        svg: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Reads the arguments after the script's name. Throws UsageError. */
export function parseFlags(args: readonly string[]): Flags {
  const { values, positionals } = parsed(args)
  if (values.help === true) return { show: 'help' }
  if (values.version === true) return { show: 'version' }
  const [verb, ...files] = positionals
  if (verb !== 'replay') throw new UsageError(verb === undefined ? 'say what to do: hotbucket replay FILE...' : `${JSON.stringify(verb)} is no command: the one there is is replay`)
  if (files.length === 0) throw new UsageError('give a FILE to replay, or - for standard input')
  if (files.filter((file) => file === '-').length > 1) throw new UsageError('standard input can be read once only')
  const texts = values.policy ?? DEFAULTS
  if (texts.length > MOST_POLICIES) throw new UsageError(`${MOST_POLICIES} policies at most, not ${texts.length}`)
  const top = wholeOf('--top', values.top ?? '5')
  if (top > 1_000) throw new UsageError(`--top is ${top}: at most 1000`)
  return { files, policies: texts.map(policyOf), reader: readerOf(values.key, values.fields), top, svg: values.svg, json: values.json ?? false }
}
