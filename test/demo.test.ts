/** The demo as a user runs it, and proof that its check can fail. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { Account } from '../dist/demo/account.js'
import { command } from '../dist/demo/command.js'
import { exitCodeOf } from '../dist/demo/report.js'
import { InFlight } from '../src/demo/in-flight.ts'
import { MapBuckets } from '../src/demo/map-bucket.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const main = join(root, 'dist/demo/main.js')
const sample = join(root, 'src/demo/sample.log')
const accessLog = join(process.env.HOTBUCKET_SHARED ?? join(root, '../shared'), 'data/access.log')
const folder = mkdtempSync(join(tmpdir(), 'hotbucket-demo-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Longer than any run here takes on a busy machine; no test passes or fails by it alone. */
const PATIENCE_MS = 240_000

function demo(...args: string[]) {
  // From another folder, since the sample is found from where the module is.
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8', timeout: PATIENCE_MS })
  return { status, stdout, stderr }
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** The numbers of the table's row that begins with `name`. */
function row(stdout: string, name: string) {
  const [requests, admitted, refused] = stdout
    .split('\n')
    .find((line) => line.trim().startsWith(name))!
    .slice(2 + name.length)
    .match(/[\d,]+/g)!
    .map((number) => Number(number.replaceAll(',', '')))
  return { requests: requests!, admitted: admitted!, refused: refused! }
}
const SHARED = 'one limiter, shared by 4 workers'
const ORACLE = 'oracle: one thread, line by line'
const MAPS = 'a Map in each of 4 workers'

function entries(client: string, count: number, second = 0): string {
  return `${client} - - [12/Mar/2024:09:00:0${second} +0000] "GET / HTTP/1.1" 200 1\n`.repeat(count)
}

/** Runs the command in this process, with a worker of the test's own. */
async function commandWith(worker: string, ...args: string[]) {
  let [out, err] = ['', '']
  const status = await command(args, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: { isTTY: false } as NodeJS.WriteStream,
    worker: new URL(worker, import.meta.url),
    liveWorker: new URL(worker, import.meta.url),
    stopped: () => Promise.resolve(),
  })
  return { status, out, err }
}

test('the sample: four workers admit what one thread admits, and four Maps more (G1, G2)', { timeout: PATIENCE_MS }, () => {
  const { status, stdout, stderr } = demo()
  expect(stderr).toBe('')
  expect(stdout).toContain('2 lines could not be read')
  expect(stdout).toContain('line 903: no user and time in brackets')
  expect(row(stdout, SHARED)).toEqual({ requests: 1_451, admitted: 616, refused: 835 })
  expect(row(stdout, ORACLE)).toEqual(row(stdout, SHARED))
  expect(row(stdout, MAPS).admitted).toBeGreaterThan(616)
  expect(stdout).toContain('Busiest client 203.0.113.66: 720 requests')
  expect(stdout).toContain('allows 64; the shared limiter admitted 64;')
  expect(status).toBe(0)
})

test.skipIf(!existsSync(accessLog))('a real log of 10,000 lines, 4,915 steps back and one cut line: equal to the oracle', { timeout: PATIENCE_MS }, () => {
  const { status, stdout } = demo(accessLog)
  expect(stdout).toContain('10,000 lines, 1,753 clients, time steps back 4,915 times')
  expect(stdout).toContain('1 line could not be read and was left out:\n    line 8899: its user agent is missing or cut short')
  expect(row(stdout, SHARED)).toEqual({ requests: 9_999, admitted: 9_146, refused: 853 })
  expect(row(stdout, ORACLE)).toEqual(row(stdout, SHARED))
  expect(status).toBe(0)
})

test('time that steps back stands still: 3 a second, then 1 s, then back, admit 6 of 12 (G9)', { timeout: PATIENCE_MS }, () => {
  const log = file('back.log', entries('a', 4, 5) + entries('a', 4, 6) + entries('a', 4, 2))
  const { status, stdout } = demo('--limit', '3', '--per', '1s', log)
  expect(row(stdout, SHARED)).toEqual({ requests: 12, admitted: 6, refused: 6 })
  expect(stdout).toContain('time steps back 1 time\n')
  expect(status).toBe(0)
})

test('the check can fail: workers that do not share a limiter are found out, exit 1', { timeout: PATIENCE_MS }, async () => {
  const { status, out } = await commandWith('demo-worker-twin.mjs', sample)
  expect(row(out, SHARED).admitted).toBeGreaterThan(row(out, ORACLE).admitted)
  expect(out).toContain('NOT EQUAL')
  expect(out).toMatch(/The shared limiter and the oracle differ for \d+ clients?:\n {4}\S+: admitted \d+, the oracle \d+/)
  expect(status).toBe(1)
})

test('a worker that throws ends the replay with its message, exit 1', { timeout: PATIENCE_MS }, async () => {
  const { status, err } = await commandWith('demo-worker-throws.mjs', file('one.log', entries('a', 50)))
  expect(err).toContain('the kettle is empty')
  expect(status).toBe(1)
})

test('equal totals with one client over and one under are not equal', () => {
  const account = new Account(1_000)
  const [a, b] = [account.enter('a', 0, true), account.enter('b', 0, true)]
  expect(exitCodeOf(account)).toBe(1)
  a.shared = b.shared = 1
  expect(exitCodeOf(account)).toBe(0)
  a.shared = 2
  b.shared = 0
  expect(account.totals).toMatchObject({ shared: 2, oracle: 2 })
  expect(exitCodeOf(account)).toBe(1)
})

test('the busiest client is the one that asked most in one period, not in all', () => {
  const account = new Account(1_000)
  for (let n = 0; n < 10; n++) account.enter('steady', n * 1_000, true)
  for (let n = 0; n < 3; n++) account.enter('bursts', 5_000 + n, true)
  expect(account.busiest).toMatchObject({ client: 'bursts', requests: 3, mostInPeriod: 3 })
})

test('the oracle: 10 a minute polled every millisecond admits 10 at once and then one each 6,000 ms (G2)', () => {
  const oracle = new MapBuckets(10, 60_000)
  const admitted: number[] = []
  for (let ms = 0; ms <= 12_000; ms++) if (oracle.allow('a', ms)) admitted.push(ms)
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6_000, 12_000])
})

test('requests under way: a waiter sleeps until enough have ended, and learns of one that failed', async () => {
  const inFlight = new InFlight()
  let [endFirst, failSecond] = [() => {}, (_: Error) => {}]
  inFlight.add(new Promise<void>((resolve) => (endFirst = resolve)))
  inFlight.add(new Promise<void>((_, reject) => (failSecond = reject)))
  await inFlight.atMost(2)
  let woken = false
  const waited = inFlight.atMost(1).then(() => (woken = true))
  // A turn of the event loop: whatever could have woken it, would have.
  await new Promise((resolve) => setImmediate(resolve))
  expect(woken).toBe(false)
  endFirst()
  await waited
  failSecond(new Error('lost'))
  await expect(inFlight.atMost(0)).rejects.toThrow('lost')
})

test('odd requests reach the server: no path, foreign methods, any byte, CRLF, 30,000 characters', { timeout: PATIENCE_MS }, () => {
  const at = '192.0.2.1 - - [12/Mar/2024:09:00:00 +0000]'
  const lines = [
    `${at} "GET /${'a'.repeat(30_000)} HTTP/1.1" 200 1`, `${at} "GET /\xe9\x01\xff HTTP/1.1" 200 1`, `${at} "-" 408 -`, `${at} "CONNECT a:443" 405 1`,
    `${at} "OPTIONS * HTTP/1.0" 200 1`, `${at} "HEAD / HTTP/1.0" 200 -`, `__proto__${at.slice(9)} "PROPFIND / HTTP/1.1" 200 1`,
    'nonsense', `${at} "POST / HTTP/1.1" 200 1`,
  ]
  const { status, stdout } = demo('--limit', '5', file('odd.log', Buffer.from(lines.join('\r\n'), 'latin1')))
  expect(stdout).toContain('line 8: no client address at its start')
  expect(row(stdout, SHARED)).toEqual({ requests: 8, admitted: 6, refused: 2 })
  expect(status).toBe(0)
})

test('a line of the far future is left out where the limiter cannot count that far, and later lines go on', { timeout: PATIENCE_MS }, () => {
  const log = file('future.log', entries('a', 2) + entries('a', 1).replace('2024', '2199') + entries('a', 3, 1))
  const { status, stdout } = demo('--limit', '1000000', '--per', '1s', log)
  expect(stdout).toContain('line 3: its time is decades after the first')
  expect(stdout).toContain('time steps back 0 times')
  expect(row(stdout, SHARED)).toEqual({ requests: 5, admitted: 5, refused: 0 })
  expect(status).toBe(0)
})

test('a binary file and an empty one are nothing to replay, not a crash', { timeout: PATIENCE_MS }, () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => (n * 7_919 + (n >> 3) * 31) & 255)
  const binary = demo(file('binary.log', bytes))
  expect(binary.stdout).toMatch(/lines could not be read[^]*and [\d,]+ more[^]*Nothing to replay/)
  // Nothing of the file reaches the terminal as a control character.
  expect(binary.stdout).toMatch(/^[\n\x20-\x7e]*$/)
  expect(binary).toMatchObject({ status: 0, stderr: '' })
  expect(demo(file('empty.log', ''))).toMatchObject({ status: 0, stdout: expect.stringContaining('Nothing to replay') as string })
})

test.each([
  [['--limit', 'many'], '--limit is "many"'],
  [['--limit', '9999999999'], 'limit must be a whole number from 0 to 2147483647'],
  [['--per', '1w'], '--per is "1w"'],
  [['--wat'], '--wat'],
  [['no-such.log'], 'cannot read no-such.log: there is no such file'],
  [['.'], 'cannot read .: it is a directory'],
])('%j: exit 2, the fault on stderr, no stack', { timeout: PATIENCE_MS }, (args, message) => {
  const { status, stdout, stderr } = demo(...args)
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/^ +at /m)
  expect(stdout).toBe('')
  expect(status).toBe(2)
})

test('--help says what the flags are, exit 0', { timeout: PATIENCE_MS }, () => {
  expect(demo('--help')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/--limit N[^]*--per TIME/) as string })
})
