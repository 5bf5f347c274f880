/** Reading a log: lines of a byte stream, the two formats, and the command line. */
import { expect, test } from 'vitest'
import { parseLine, timeOf } from '../src/log/access-log.ts'
import { parseFlags } from '../src/demo/flags.ts'
import { linesOf } from '../src/log/lines.ts'
import { UsageError } from '../src/log/usage.ts'

const COMMON = '192.0.2.9 - - [12/Mar/2024:09:00:05 +0000] "GET /teapots?x=1 HTTP/1.1" 200 512'
const COMBINED = `${COMMON} "https://shop.example/" "Mozilla/5.0 (X11)"`
const ENTRY = { client: '192.0.2.9', user: '-', timeMs: Date.UTC(2024, 2, 12, 9, 0, 5), method: 'GET', path: '/teapots?x=1' }

async function split(parts: readonly (string | Uint8Array)[], longest?: number): Promise<string[]> {
  async function* chunks() {
    for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
  }
  const lines: string[] = []
  for await (const line of linesOf(chunks(), longest)) lines.push(line)
  return lines
}

test('lines end with LF or CRLF, the last one with nothing, and chunks may part anywhere', async () => {
  expect(await split(['a\r\nb', 'c\n', '\n', 'd\r', '\ne'])).toEqual(['a', 'bc', '', 'd', 'e'])
  expect(await split(['a\n'])).toEqual(['a'])
  expect(await split([])).toEqual([])
})

test('a byte order mark before the first line is no part of it', async () => {
  expect(await split([Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xbf, 0x61, 0x0a, 0x62)])).toEqual(['a', 'b'])
})

test('every byte survives as one character', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 0x0a)
  const [line] = await split([bytes, '\n'])
  expect([...line!].map((character) => character.charCodeAt(0))).toEqual([...bytes])
})

test('a line longer than the longest is cut to one byte more, over any number of chunks, and the next is whole', async () => {
  expect(await split(['abcdefgh\nij\n'], 4)).toEqual(['abcde', 'ij'])
  expect(await split(['abc', 'def', 'ghi', '\nij\n'], 4)).toEqual(['abcde', 'ij'])
})

test('a Common line, a Combined line and a Combined line with more fields are one entry', () => {
  expect(parseLine(COMMON)).toEqual(ENTRY)
  expect(parseLine(COMBINED)).toEqual(ENTRY)
  expect(parseLine(`${COMBINED} "203.0.113.1" 0.012`)).toEqual(ENTRY)
  expect(parseLine(`${COMMON} `)).toEqual(ENTRY)
})

test('quotes that are escaped, users with spaces, sizes of - and IPv6 addresses are legal', () => {
  expect(parseLine(COMBINED.replace('Mozilla', 'a \\"quoted\\" one'))).toEqual(ENTRY)
  expect(parseLine(COMMON.replace('- - [', '- jane doe ['))).toEqual({ ...ENTRY, user: 'jane doe' })
  expect(parseLine(COMMON.replace('512', '-'))).toEqual(ENTRY)
  expect(parseLine(COMMON.replace('192.0.2.9', '2001:db8::9'))).toEqual({ ...ENTRY, client: '2001:db8::9' })
  expect(parseLine(COMMON.replace('192.0.2.9', '__proto__'))).toEqual({ ...ENTRY, client: '__proto__' })
})

test('a request that is no path, or none at all, is asked of /', () => {
  for (const request of ['-', '', '\\x16\\x03\\x01', 'OPTIONS * HTTP/1.0', 'GET http://elsewhere.example/ HTTP/1.1', 'CONNECT a:443']) {
    expect(parseLine(COMMON.replace(/".*"/, `"${request.replaceAll('\\', '\\\\')}"`))).toMatchObject({ path: '/' })
  }
})

test('times are read with their offset, and a leap second is the next minute', () => {
  expect(timeOf('12/Mar/2024:09:00:05 +0130')).toBe(Date.UTC(2024, 2, 12, 7, 30, 5))
  expect(timeOf('31/Dec/2023:23:30:00 -0800')).toBe(Date.UTC(2024, 0, 1, 7, 30))
  expect(timeOf('31/Dec/2016:23:59:60 +0000')).toBe(Date.UTC(2017, 0, 1))
  expect(timeOf('29/Feb/2024:00:00:00 +0000')).toBe(Date.UTC(2024, 1, 29))
})

test.each([
  '29/Feb/2023:00:00:00 +0000', '31/Apr/2024:00:00:00 +0000', '00/Mar/2024:00:00:00 +0000', '12/Mrz/2024:00:00:00 +0000',
  '12/Mar/2024:24:00:00 +0000', '12/Mar/2024:00:60:00 +0000', '12/Mar/2024:00:00:61 +0000', '12/Mar/2024:00:00:00',
  '12/Mar/9999:00:00:00 +0000', '12/Mar/1969:00:00:00 +0000', '12/Mar/2024:00:00:00 +0060', '2024-03-12T00:00:00Z', '',
])('%j is no time', (text) => {
  expect(timeOf(text)).toBeUndefined()
})

test.each([
  ['', 'empty line'],
  ['x'.repeat(32_769), 'longer than 32768 bytes'],
  [COMMON.slice(0, 9), 'no client address at its start'],
  ['\x00\x01 - - [', 'no client address at its start'],
  ['-- log turned over --', 'no user and time in brackets after the address'],
  [COMMON.replace('Mar', 'Mrz'), 'not a time: [12/Mrz/2024:09:00:05 +0000]'],
  [COMMON.slice(0, 60), 'no whole request in quotes'],
  [COMMON.slice(0, -6), 'no status of three digits'],
  [COMMON.replace('512', 'many'), 'no size in bytes'],
  [COMBINED.slice(0, 90), 'its referrer is cut short'],
  [COMBINED.slice(0, -1), 'its user agent is missing or cut short'],
  [`${COMMON} "-"`, 'its user agent is missing or cut short'],
])('a line that begins %.40j is left out: %s', (line, reason) => {
  expect(parseLine(line)).toEqual({ reason })
})

test('every beginning of a line is read or given a reason, and none throws', () => {
  for (let end = 0; end <= COMBINED.length; end++) {
    const parsed = parseLine(COMBINED.slice(0, end))
    expect('reason' in parsed).toBe(!(end === COMBINED.length || [COMMON.length - 2, COMMON.length - 1, COMMON.length, COMMON.length + 1].includes(end)))
  }
})

test('flags have defaults, and units from ms to d', () => {
  expect(parseFlags([])).toEqual({ help: false, limit: 20, per: '1m', periodMs: 60_000, serve: false, port: 8330, file: undefined })
  expect(parseFlags(['--limit', '60', '--per', '500ms', 'a.log'])).toMatchObject({ limit: 60, periodMs: 500, file: 'a.log' })
  expect(['1s', '2m', 'h', '7d'].map((per) => parseFlags([`--per=${per}`]).periodMs)).toEqual([1_000, 120_000, 3_600_000, 604_800_000])
})

test.each([
  [['--limit', 'many'], '--limit is "many"'], [['--limit', '1.5'], '--limit is "1.5"'], [['--limit=-1'], '--limit is "-1"'],
  [['--limit='], '--limit is ""'], [['--limit'], '--limit'], [['--per', '1w'], '--per is "1w"'], [['--per', '0s'], '--per is "0s"'],
  [['--per', '1.5s'], '--per is "1.5s"'], [['--per='], '--per is ""'], [['--per', '99999999999999999d'], '--per is'],
  [['--wat'], '--wat'], [['a.log', 'b.log'], 'one FILE at most'], [['--port', '80'], 'give --serve too'],
  [['--serve', '--port', '99999'], 'at most 65535'], [['--serve', '--limit', '0'], 'takes 1 to 1000'],
])('%j is a usage error that names the fault', (args, message) => {
  expect(() => parseFlags(args)).toThrow(UsageError)
  expect(() => parseFlags(args)).toThrow(message)
})
