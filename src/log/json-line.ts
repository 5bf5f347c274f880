/** Reads lines that are JSON objects, by the names of the fields that matter. */
import type { Unreadable } from './access-log.ts'
import { timeOf } from './access-log.ts'
import { LONGEST_LINE } from './lines.ts'

/** Where a line has its time and its key; `a.b` is the field `b` of the field `a`. */
export interface FieldNames {
  readonly time: string
  readonly key: string | undefined
}

export interface JsonEntry {
  readonly timeMs: number
  /** The key field as text; undefined where none is named or the line has none. */
  readonly key: string | undefined
}

const ISO = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?) ?(Z|[+-]\d{2}:?\d{2})?$/i
const LAST_MS = Date.UTC(2200, 0)

/** Seconds, milliseconds, microseconds or nanoseconds since 1970: by its size, since each of them is this century. */
function epochMs(number: number): number {
  if (number < 1e11) return number * 1e3
  return number < 1e14 ? number : number < 1e17 ? number / 1e3 : number / 1e6
}

/** Milliseconds since 1970 of a number, ISO 8601 (UTC where it names no zone) or a timestamp as in access logs. */
function timeIn(value: unknown): number | undefined {
  let ms: number | undefined
  if (typeof value === 'number') ms = epochMs(value)
  if (typeof value === 'string') {
    const [, day, time, zone = 'Z'] = ISO.exec(value) ?? []
    ms = /^\d+(\.\d+)?$/.test(value) ? epochMs(Number(value)) : day === undefined ? timeOf(value) : Date.parse(`${day}T${time!.replace(',', '.')}${zone.toUpperCase()}`)
  }
  return ms !== undefined && ms >= 0 && ms < LAST_MS ? ms : undefined
}

function fieldOf(object: unknown, names: readonly string[]): unknown {
  let value = object
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** A reader of lines, whose characters are bytes; it never throws, whatever the line. */
export function jsonReader({ time, key }: FieldNames): (line: string) => JsonEntry | Unreadable {
  // A name with dots in it is found whole, if the line has it so.
  const find = (object: unknown, name: string): unknown => fieldOf(object, [name]) ?? fieldOf(object, name.split('.'))
  return (line) => {
    if (line === '') return { reason: 'empty line' }
    if (line.length > LONGEST_LINE) return { reason: `longer than ${LONGEST_LINE} bytes` }
    let object: unknown
    try {
      object = JSON.parse(/[\x80-\xff]/.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line)
    } catch {
      return { reason: 'not JSON' }
    }
    const timeMs = timeIn(find(object, time))
    if (timeMs === undefined) return { reason: `no time in its field ${time}` }
    const value = key === undefined ? undefined : find(object, key)
    return { timeMs, key: typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined }
  }
}
