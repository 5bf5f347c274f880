/** From a line of a log to a key and a time, as the flags ask for it. */
import type { Entry, Unreadable } from '../log/access-log.ts'
import { parseLine } from '../log/access-log.ts'
import { jsonReader } from '../log/json-line.ts'
import { UsageError } from '../log/usage.ts'
import { pairsOf } from './policy-text.ts'

export interface Request {
  readonly key: string
  readonly timeMs: number
}

export interface Reader {
  /** What the keys are, for the report. */
  readonly by: string
  /** The request of a line, or why it is none. Never throws. */
  readonly read: (line: string) => Request | Unreadable
}

const PARTS: Readonly<Record<string, (entry: Entry) => string>> = {
  address: ({ client }) => client,
  // A query names no other resource.
  path: ({ path }) => path.split('?', 1)[0]!,
  user: ({ user }) => (user === '-' ? '' : user),
}

/** The regular expression of `/text/flags`, or undefined where it is not written so. Throws UsageError. */
function expressionOf(text: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
  if (source === undefined) return undefined
  try {
    const expression = new RegExp(source, flags!.replace(/[gy]/g, ''))
    // One more, empty alternative matches anything: its match has as many groups as the expression.
    if (new RegExp(`${source}|`, flags!.replace(/[gy]/g, '')).exec('')!.length > 1) return expression
  } catch (error) {
    throw new UsageError(`--key ${text}: ${(error as Error).message}`)
  }
  throw new UsageError(`--key ${text}: put the part that is the key in round brackets`)
}

type Parsed = { readonly timeMs: number } | Unreadable

/** Adds to each readable line what `keyOf` finds in it; a line without a key is no request. */
function keyed<P extends Parsed>(parse: (line: string) => P, by: string, keyOf: (entry: Exclude<P, Unreadable>, line: string) => string | undefined): Reader {
  const unkeyed = { reason: `no key: ${by} is not in it` }
  const read = (line: string): Request | Unreadable => {
    const entry = parse(line)
    if ('reason' in entry) return entry
    const key = keyOf(entry as Exclude<P, Unreadable>, line)
    return key === undefined || key === '' ? unkeyed : { key, timeMs: entry.timeMs }
  }
  return { by, read }
}

/** The reader for `--key` and `--fields`. Throws UsageError. */
export function readerOf(key: string | undefined, fields: string | undefined): Reader {
  const expression = key === undefined ? undefined : expressionOf(key)
  const found = (line: string): string | undefined => expression!.exec(line)?.[1]
  if (fields === undefined) {
    const by = key ?? 'address'
    if (expression !== undefined) return keyed(parseLine, by, (_, line) => found(line))
    if (!Object.hasOwn(PARTS, by)) throw new UsageError(`--key is ${JSON.stringify(by)}: give address, path, user or /a (regular) expression/`)
    return keyed(parseLine, by, PARTS[by]!)
  }
  const names = pairsOf(`--fields ${JSON.stringify(fields)}`, fields.trim().split(/\s+/), ['time', 'key'])
  const [time, field] = [names.get('time'), names.get('key')]
  if (time === undefined || (field === undefined) === (expression === undefined)) {
    throw new UsageError('--fields: give time=FIELD and key=FIELD, or in the place of the latter --key /a (regular) expression/')
  }
  if (key !== undefined && expression === undefined) throw new UsageError(`--key ${key} is for access logs: with --fields, give key=FIELD`)
  const parse = jsonReader({ time, key: field })
  return expression === undefined ? keyed(parse, field!, (entry) => entry.key) : keyed(parse, key!, (_, line) => found(line))
}
