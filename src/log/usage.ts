/** What the command lines of this project have in common. */

/** What the user must change; the message says it all, no stack is shown. */
export class UsageError extends Error {}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a time such as `500ms`, `1m` or `h`. Throws UsageError that names `field`. */
export function periodOf(field: string, text: string): number {
  const [, number, unit] = /^(\d*)(ms|s|m|h|d)$/.exec(text) ?? []
  const ms = number === undefined ? 0 : Number(number || 1) * UNITS[unit!]!
  if (ms > 0 && Number.isSafeInteger(ms)) return ms
  throw new UsageError(`${field} is ${JSON.stringify(text)}: give a whole number above 0 and ms, s, m, h or d, such as 500ms or 1m`)
}

/** A whole number from 0. Throws UsageError that names `field`. */
export function wholeOf(field: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UsageError(`${field} is ${JSON.stringify(text)}: give a whole number from 0`)
}

/** Text of a log for a terminal: nothing that would move its cursor or change its colours. */
export const printable = (text: string): string =>
  text.slice(0, 80).replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)

export const count = (n: number): string => n.toLocaleString('en-US')
export const plural = (n: number, one: string): string => `${count(n)} ${one}${n === 1 ? '' : 's'}`
