/** What the tool reads: plain and gzip, files and pipes, whole and damaged, and every kind of key. */
import { readFileSync } from 'node:fs'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { file, findings, lines, replay, sample, tidy, tool } from './tool.ts'

afterAll(tidy)

const plain = readFileSync(sample)
const zipped = gzipSync(plain)
const POLICY = ['--policy', 'token-bucket limit=20 per=1m'] as const

describe('gzip', () => {
  test('is read like the plain file, by its first bytes and not by its name, from files and from a pipe', async () => {
    const { files: _, ...wanted } = await findings([...POLICY, sample])
    expect(await findings([...POLICY, file('whole.bin', zipped)])).toMatchObject(wanted)
    expect(await findings([...POLICY, '-'], { stdin: zipped })).toMatchObject(wanted)
  })

  test('of several members, as log rotation appends them, is read to the end', async () => {
    const found = await findings([file('members.gz', Buffer.concat([gzipSync(lines('a', 3)), gzipSync(lines('b', 4))]))])
    expect(found).toMatchObject({ lines: 7, clients: 2, faults: [] })
  })

  test('cut short anywhere keeps every line that can be inflated, says so, exit 1', async () => {
    for (const share of [0.1, 0.5, 0.9, 0.999]) {
      const cut = zipped.subarray(0, Math.floor(zipped.length * share))
      const left = gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1')
      const { status, out, err } = await replay(['--json', file('cut.gz', cut)])
      expect(left.length).toBeGreaterThan(1_000)
      expect(JSON.parse(out)).toMatchObject({ lines: left.split('\n').filter((line) => line !== '').length, faults: [{ file: expect.stringContaining('cut.gz') as string, reason: 'its gzip data ends too early' }] })
      expect(err).toMatch(/^Reading .*cut\.gz ended early: its gzip data ends too early\n$/)
      expect(status).toBe(1)
    }
  })

  test('damaged in the middle keeps what came before, and the next file is read whole', async () => {
    const bad = Buffer.from(gzipSync(Buffer.concat(Array.from({ length: 40 }, () => plain)), { level: 1 }))
    const middle = bad.length >> 1
    bad.fill(0xff, middle, middle + 64)
    const found = await findings([file('bad.gz', bad), file('next.log', lines('next', 5))])
    expect(found.faults).toEqual([{ file: expect.stringContaining('bad.gz') as string, reason: expect.stringContaining('its gzip data is damaged') as string }])
    expect(found.lines).toBeGreaterThan(10_000)
    expect(found.requests).toBe(found.lines - found.unreadable)
    expect((await replay([file('bad.gz', bad)])).out).toContain('All lines before that count.')
  })
})

test('rotated logs, which a shell names newest first, are run oldest first, and a pipe where it was named', async () => {
  const [oldest, middle, newest] = [file('a.log.2.gz', gzipSync(lines('a', 3, 0))), file('a.log.1', `nonsense\n${lines('a', 3, 60)}`), file('a.log', lines('a', 3, 120))]
  const found = await findings(['--policy', 'fixed-window limit=2 window=1m', newest, middle, oldest, file('none.log', '')])
  expect(found).toMatchObject({ files: ['a.log.2.gz', 'a.log.1', 'a.log', 'none.log'], requests: 9, unreadable: 1, stepsBack: 0, policies: [{ refused: 3 }] })
  expect(await findings(['--policy', 'fixed-window limit=2 window=1m', '-', oldest], { stdin: lines('a', 3, 120) })).toMatchObject({ requests: 6, stepsBack: 1, policies: [{ refused: 4 }] })
})

describe('what is no log', () => {
  test('binary files: nothing to replay, exit 1, and no control character reaches the terminal', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => (n * 7_919 + (n >> 3) * 31) & 255)
    const { status, out } = await replay([file('binary.log', bytes)])
    expect(out).toMatch(/lines could not be read[^]*and [\d,]+ more[^]*Nothing to replay/)
    expect(out).toMatch(/^[\n\x20-\x7e]*$/)
    expect(status).toBe(1)
  })

  test('control characters in what is shown of a line, a key or a name are spelt out', async () => {
    const evil = '\x1b[2J\x07'
    const log = lines('a', 1).replace(/\[.*\]/, `[${evil}]`) + lines('a', 1, 0, '/', evil.replaceAll('[', '')) + lines('a', 3, 0, `/${evil}`)
    for (const key of ['user', 'path']) {
      const { out } = await replay(['--policy', 'fixed-window limit=0 window=1m', '--key', key, file(`${key}\x1b.log`, log)])
      expect(out).toMatch(/^[\n\x20-\x7e]*$/)
      expect(out).toContain('not a time: [\\x1b[2J\\x07')
      expect(out).toMatch(/\\x1b.*refused/)
    }
  })

  test('an empty file and an empty pipe: nothing to replay, exit 1, and --json and --svg are whole', async () => {
    expect(await replay([file('empty.log', '')])).toMatchObject({ status: 1, out: expect.stringContaining('Nothing to replay') as string })
    const svg = file('empty.svg', '')
    expect(await findings(['--svg', svg, '-'])).toMatchObject({ requests: 0, from: null, to: null, policies: [] })
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg [^]*nothing to replay[^]*<\/svg>\n$/)
  })

  test('a line of the far future is left out where no limiter counts that far; one that stops the clock is pointed at', async () => {
    const far = lines('a', 2) + lines('a', 1).replace('2024', '2199') + lines('a', 3, 1)
    expect(await findings(['--policy', 'token-bucket limit=1000000 per=1s', '-'], { stdin: far })).toMatchObject({ requests: 5, unreadable: 1 })
    const ahead = lines('a', 2) + lines('a', 1).replace('2024', '2025') + lines('a', 3, 1)
    expect((await replay(['-'], { stdin: ahead })).out).toContain('The clock stood still for a long time: see standard input, line 4.')
  })
})

describe('keys', () => {
  const log = lines('192.0.2.1', 3, 0, '/a?api_key=k1', 'jane') + lines('192.0.2.2', 2, 0, '/a?api_key=k2') + lines('192.0.2.1', 1, 0, '/b')
  test.each([
    ['address', 6, [['192.0.2.1', 4], ['192.0.2.2', 2]]],
    ['path', 6, [['/a', 5], ['/b', 1]]],
    ['user', 3, [['jane', 3]]],
    ['/[?&]api_key=(\\w+)/', 5, [['k1', 3], ['k2', 2]]],
  ])('by %s', async (key, requests, clients) => {
    const found = await findings(['--policy', 'token-bucket limit=0 per=1m', '--key', key, '-'], { stdin: log })
    expect(found).toMatchObject({ requests, unreadable: 6 - requests, keyedBy: key })
    expect(found.policies[0]!.worst.map(({ client, requests: asked }) => [client, asked])).toEqual(clients)
  })

  test('of JSON lines by the names of their fields: times as numbers, ISO and log timestamps, keys nested or of numbers', async () => {
    const at = Date.UTC(2024, 2, 12, 9)
    const times = [at / 1_000, at, at * 1_000, String(at), '2024-03-12T09:00:00Z', '2024-03-12 10:00:00.000+01:00', '2024-03-12T09:00:00', '12/Mar/2024:09:00:00 +0000']
    const good = times.map((ts) => JSON.stringify({ ts, client: { ip: '\xe9' } }))
    const bad = ['{', '[]', 'null', '{"ts":"yesterday","client":{"ip":"b"}}', `{"ts":${at}}`, '{"ts":-1,"client":{"ip":"b"}}', `{"ts":${at},"client":{"ip":""}}`]
    const text = [...good, `{"ts":${at},"client":{"ip":"\\u00e9"}}`, `{"ts":${at},"client.ip":7}`, ...bad].join('\n')
    const found = await findings(['--policy', 'fixed-window limit=0 window=1s', '--fields', 'time=ts key=client.ip', '-'], { stdin: text })
    expect(found).toMatchObject({ requests: 10, unreadable: bad.length, from: '2024-03-12T09:00:00.000Z', to: '2024-03-12T09:00:00.000Z' })
    expect(found.policies[0]!.worst).toEqual([{ client: '\xe9', refused: 9, requests: 9 }, { client: '7', refused: 1, requests: 1 }])
  })

  test('a key of 30,000 characters is told from another by its digest, and costs no more room than a short one', async () => {
    const long = `/${'a'.repeat(30_000)}`
    const found = await findings(['--policy', 'fixed-window limit=0 window=1s', '--key', 'path', '-'], { stdin: lines('a', 2, 0, `${long}1`) + lines('a', 1, 0, `${long}2`) })
    expect(found.clients).toBe(2)
    expect(found.policies[0]!.worst.map(({ client }) => client.length)).toEqual([84, 84])
  })
})

test('clients beyond the rows are still decided, counted and named, and the report says what is an estimate', async () => {
  const log = ['a', 'b', 'c', 'd', 'd', 'e'].map((client) => lines(client, 5)).join('')
  const args = ['--policy', 'fixed-window limit=2 window=1m', '-']
  const [exact, bounded] = [await findings(args, { stdin: log }), await findings(args, { stdin: log, rows: 3 })]
  expect(exact.policies[0]!.estimates).toEqual([])
  expect(bounded).toMatchObject({ clients: exact.clients, requests: exact.requests, clientsAtLeast: false })
  expect(bounded.policies[0]).toMatchObject({ refused: exact.policies[0]!.refused, clientsTouched: 5 })
  expect(bounded.policies[0]!.worst[0]).toEqual({ client: 'd', refused: 8 })
  expect(bounded.policies[0]!.estimates.join()).toContain('of the first 3 clients only')
  expect((await replay(args, { stdin: log, rows: 3 })).out).toContain('refused at most 8')
})

test('the program reads standard input, writes the picture beside the report, and draws nothing where there is no terminal', () => {
  const svg = file('out.svg', '')
  const { status, stdout, stderr } = tool(['replay', ...POLICY, '--svg', svg, '-'], plain)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/token-bucket limit=20 per=1m +835 +58%/)
  expect(stdout).toMatch(/203\.0\.113\.66 +refused 656 of 720 +91%/)
  const drawn = readFileSync(svg, 'utf8')
  expect(drawn).toContain('656 of 720')
  expect(drawn).not.toMatch(/NaN|undefined|http:(?!\/\/www\.w3\.org\/2000\/svg")/)
})

test('on a terminal it says how far it is, and wipes that before the report', async () => {
  let drawn = ''
  await replay([sample], { drawn: (text) => (drawn += text) })
  expect(drawn).toMatch(/replayed [\d,]+ lines \(\d+% of the file\)/)
  expect(drawn.endsWith('\r\x1b[K')).toBe(true)
})

test.each([
  [[], 'say what to do'], [['play'], '"play" is no command'], [['replay'], 'give a FILE'], [['replay', '-', '-'], 'once only'],
  [['replay', 'no-such.log'], 'cannot read no-such.log: there is no such file'], [['replay', '.'], 'cannot read .: it is a directory'],
  [['replay', '--wat', 'x'], '--wat'], [['replay', '--top', 'all', 'x'], '--top is "all"'], [['replay', '--top', '5000', 'x'], 'at most 1000'],
  [['replay', '--policy', 'leaky limit=1 per=1m', 'x'], 'begin with one of token-bucket'],
  [['replay', '--policy', 'token-bucket per=1m', 'x'], 'give limit=N and per=TIME'],
  [['replay', '--policy', 'token-bucket limit=1 per=1w', 'x'], 'per is "1w"'],
  [['replay', '--policy', 'token-bucket limit=1.5 per=1m', 'x'], 'limit is "1.5"'],
  [['replay', '--policy', 'fixed-window limit=1 window=1m burst=2', 'x'], '"burst=2" is none of limit='],
  [['replay', '--policy', 'fixed-window limit=1 window=1m limit=2', 'x'], 'limit is given twice'],
  [['replay', '--policy', 'sliding-window-log limit=5000 window=1m', 'x'], 'limit must be a whole number from 0 to 1023'],
  [['replay', '--key', 'cookie', 'x'], '--key is "cookie"'], [['replay', '--key', '/(/', 'x'], '--key /(/'], [['replay', '--key', '/a/', 'x'], 'round brackets'],
  [['replay', '--fields', 'time=ts', 'x'], 'give time=FIELD and key=FIELD'], [['replay', '--fields', 'time=t key=k', '--key', 'path', 'x'], 'is for access logs'],
  [['replay', '--svg', '/no/such/folder/a.svg', sample], 'cannot write /no/such/folder/a.svg'],
])('%j: exit 2, the fault on stderr, no stack', (args, message) => {
  const { status, stdout, stderr } = tool(args)
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/^ +at /m)
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
})

test('--help names every flag, and --version is the package\'s', () => {
  expect(tool(['--help'])).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/--policy[^]*--key[^]*--fields[^]*--top[^]*--svg[^]*--json/) as string })
  expect(tool(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
