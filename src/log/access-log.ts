/** Reads lines of the Common and the Combined Log Format. */
import { LONGEST_LINE } from './lines.ts'

/** What a replay needs of one line. */
export interface Entry {
  readonly client: string
  /** The user as logged; `-` for none. */
  readonly user: string
  /** Milliseconds since 1970, whole seconds in these formats. */
  readonly timeMs: number
  readonly method: string
  /** The request target as logged; `/` where the line has none. */
  readonly path: string
}

/** Why a line is not one of the two formats. */
export interface Unreadable {
  readonly reason: string
}

/** The parts of a line in their order, each with what to say of a line that lacks it. */
const PARTS: readonly (readonly [part: RegExp, lack: string])[] = [
  [/([\x21-\x7e]{1,255}) /y, 'no client address at its start'],
  // Identity, user (in which there may be spaces), time.
  [/\S+ ([^[]*?\S) \[([^\]]*)\] /y, 'no user and time in brackets after the address'],
  [/"((?:[^"\\]|\\.)*)" /y, 'no whole request in quotes'],
  [/\d{3} /y, 'no status of three digits'],
  [/(?:\d+|-)(?= |$)/y, 'no size in bytes'],
]
/** Common ends there; Combined has two quoted fields more. What some servers log after those is left unread. */
const MORE: typeof PARTS = [
  [/ "(?:[^"\\]|\\.)*"(?= |$)/y, 'its referrer is cut short'],
  [/ "(?:[^"\\]|\\.)*"(?= |$)/y, 'its user agent is missing or cut short'],
]
const sourceOf = (parts: typeof PARTS): string => parts.map(([{ source }]) => source).join('')
const LINE = new RegExp(`^${sourceOf(PARTS)}(?:\\s*$|${sourceOf(MORE)})`)

const TIMESTAMP = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Milliseconds since 1970 of a log's timestamp, or undefined; the years 1970 to 2199 only, which a clock can hold. */
export function timeOf(text: string): number | undefined {
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const month = MONTHS.indexOf(match[2]!)
  const [day, year, hour, minute, second, offsetHours, offsetMinutes] = [1, 3, 4, 5, 6, 8, 9].map((group) => Number(match[group])) as [
    number, number, number, number, number, number, number,
  ]
  // A second of 60 is a leap second: the first of the next minute.
  if (month < 0 || year < 1970 || year > 2199 || hour > 23 || minute > 59 || second > 60) return undefined
  const midnight = new Date(Date.UTC(year, month, day))
  // The 31st of April is no date, though Date takes it for the 1st of May.
  if (midnight.getUTCDate() !== day || offsetHours > 23 || offsetMinutes > 59) return undefined
  const offset = (offsetHours * 60 + offsetMinutes) * (match[7] === '-' ? -1 : 1)
  return midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1_000
}

// Lines of one second follow each other: the last timestamp read, and its time.
let lastText = ''
let lastMs: number | undefined

function cachedTimeOf(text: string): number | undefined {
  if (text !== lastText) {
    lastMs = timeOf(text)
    // A copy: the text is part of a line, which it would keep alive.
    lastText = Buffer.from(text, 'latin1').toString('latin1')
  }
  return lastMs
}

/** What a line that is in neither format lacks. */
function lackOf(line: string): string {
  let at = 0
  for (const [part, lack] of [...PARTS, ...MORE]) {
    part.lastIndex = at
    if (!part.test(line)) return lack
    at = part.lastIndex
  }
  return 'in neither format'
}

/** The entry of a line in either format, or why it is none. Never throws, whatever the line. */
export function parseLine(line: string): Entry | Unreadable {
  if (line === '') return { reason: 'empty line' }
  if (line.length > LONGEST_LINE) return { reason: `longer than ${LONGEST_LINE} bytes` }
  const match = LINE.exec(line)
  if (match === null) return { reason: lackOf(line) }
  const [, client, user, time, request] = match as unknown as [string, string, string, string, string]
  const timeMs = cachedTimeOf(time)
  if (timeMs === undefined) return { reason: `not a time: [${time}]` }
  const [method = '', path = ''] = request.split(' ')
  return { client, user, timeMs, method, path: path.startsWith('/') ? path : '/' }
}
