/** What the replay says of each policy is what an independent reference says, client by client. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { fixedWindowOracle } from '../oracle/fixed-window.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { slidingWindowCounterOracle } from '../oracle/sliding-window-counter.ts'
import { slidingWindowLogOracle } from '../oracle/sliding-window-log.ts'
import { tokenBucketOracle } from '../oracle/token-bucket.ts'
import { accessLog, findings, lines, sample } from './tool.ts'

type Allow = (nowMs: number) => boolean

const consuming = ({ consume }: Oracle): Allow => (nowMs) => consume(nowMs, 1).allowed

const policies: readonly [text: string, periodMs: number, limit: (startMs: number) => Allow][] = [
  ['token-bucket limit=20 per=1m', 60_000, (startMs) => consuming(tokenBucketOracle(tokenBucket({ limit: 20, periodMs: 60_000 }), startMs))],
  ['token-bucket limit=7 per=10s burst=3', 10_000, (startMs) => consuming(tokenBucketOracle(tokenBucket({ limit: 7, periodMs: 10_000, burst: 3 }), startMs))],
  ['fixed-window limit=10 window=1m', 60_000, (startMs) => consuming(fixedWindowOracle(fixedWindow({ limit: 10, windowMs: 60_000 }), startMs))],
  ['sliding-window-counter limit=12 window=90s', 90_000, (startMs) => consuming(slidingWindowCounterOracle(slidingWindowCounter({ limit: 12, windowMs: 90_000 }), startMs))],
  ['sliding-window-log limit=9 window=45s', 45_000, (startMs) => consuming(slidingWindowLogOracle(slidingWindowLog({ limit: 9, windowMs: 45_000 }), startMs))],
]

/** The most of `times` within any window that ends at one of them and excludes its own start. */
function largestBurst(times: readonly number[], windowMs: number): number {
  return times.reduce((most, end) => Math.max(most, times.filter((time) => time > end - windowMs && time <= end).length), 0)
}

interface Asked {
  readonly client: string
  readonly nowMs: number
}

/** The requests of a log by the simplest of readings, on a clock that never steps back. */
function requestsOf(path: string): Asked[] {
  let nowMs = 0
  return readFileSync(path, 'latin1').split('\n').flatMap((line) => {
    const [, client, day, time] = /^(\S+) \S+ \S+ \[(\d\d\/\w{3}\/\d{4}):(\d\d:\d\d:\d\d) \+0000\] "[^"]*" \d{3} (?:\d+|-)(?: "[^"]*" "[^"]*"| ?$)/.exec(line) ?? []
    if (client === undefined) return []
    nowMs = Math.max(nowMs, Date.parse(`${day!.replaceAll('/', ' ')} ${time!} UTC`))
    return [{ client, nowMs }]
  })
}

interface Client {
  readonly allow: Allow
  readonly asked: number[]
  readonly admitted: number[]
}

function expected(requests: readonly Asked[], periodMs: number, limit: (startMs: number) => Allow) {
  const clients = new Map<string, Client>()
  for (const { client, nowMs } of requests) {
    const found = clients.get(client) ?? { allow: limit(requests[0]!.nowMs), asked: [], admitted: [] }
    clients.set(client, found)
    found.asked.push(nowMs)
    if (found.allow(nowMs)) found.admitted.push(nowMs)
  }
  const all = [...clients]
  const hits = all.flatMap(([client, { asked, admitted }]) => (asked.length === admitted.length ? [] : [{ client, refused: asked.length - admitted.length, requests: asked.length }]))
  const most = (which: 'asked' | 'admitted') => all.reduce((found, [, client]) => Math.max(found, largestBurst(client[which], periodMs)), 0)
  return { clients: clients.size, refused: hits.reduce((sum, { refused }) => sum + refused, 0), hits, asked: most('asked'), letThrough: most('admitted') }
}

const byName = (a: { client: string }, b: { client: string }): number => (a.client < b.client ? -1 : 1)

describe.each([['the sample', sample], ['a real log', accessLog]])('%s', (_, log) => {
  test.skipIf(!existsSync(log))('each algorithm, five policies at once: refusals, clients and bursts are those of the reference', async () => {
    const requests = requestsOf(log)
    const found = await findings(['--top', '1000', ...policies.flatMap(([text]) => ['--policy', text]), log])
    expect(found.requests).toBe(requests.length)
    policies.forEach(([text, periodMs, limit], at) => {
      const wanted = expected(requests, periodMs, limit)
      const verdict = found.policies[at]!
      expect(found.clients).toBe(wanted.clients)
      expect(wanted.refused).toBeGreaterThan(0)
      expect(verdict).toMatchObject({ policy: text, refused: wanted.refused, admitted: requests.length - wanted.refused, clientsTouched: wanted.hits.length, estimates: [] })
      expect([...verdict.worst].sort(byName)).toEqual(wanted.hits.sort(byName))
      expect([text, verdict.burstAsked.requests, verdict.burstLetThrough.requests]).toEqual([text, wanted.asked, wanted.letThrough])
    })
  })
})

test('the comparison can fail: a reference with one token more differs in refusals', async () => {
  const requests = requestsOf(sample)
  const { policies: [verdict] } = await findings(['--policy', 'token-bucket limit=20 per=1m', sample])
  const one = expected(requests, 60_000, (startMs) => consuming(tokenBucketOracle(tokenBucket({ limit: 21, periodMs: 60_000 }), startMs)))
  expect(one.refused).not.toBe(verdict!.refused)
})

test('a fixed window lets twice its limit through around an edge, and a log never does', async () => {
  const log = lines('a', 10, 59) + lines('a', 10, 60)
  const { policies: [fixed, exact] } = await findings(['--policy', 'fixed-window limit=10 window=1m', '--policy', 'sliding-window-log limit=10 window=1m', '-'], { stdin: log })
  expect(fixed).toMatchObject({ refused: 0, burstLetThrough: { requests: 20, client: 'a', at: '2024-03-12T09:01:00.000Z' } })
  expect(exact).toMatchObject({ refused: 10, burstLetThrough: { requests: 10 }, burstAsked: { requests: 20 } })
})

test('time that steps back stands still: 3 a second, then 1 s, then back, admit 6 of 12 (G9)', async () => {
  const found = await findings(['--policy', 'token-bucket limit=3 per=1s', '-'], { stdin: lines('a', 4, 5) + lines('a', 4, 6) + lines('a', 4, 2) })
  expect(found).toMatchObject({ requests: 12, stepsBack: 1, policies: [{ admitted: 6, refused: 6 }] })
})

test('the abuser and the users are told apart: nine tenths of the refusals on one client, one user touched lightly', async () => {
  const users = Array.from({ length: 50 }, (_, n) => lines(`user-${n}`, n === 0 ? 22 : 5)).join('')
  const { policies: [verdict] } = await findings(['--policy', 'fixed-window limit=20 window=1m', '-'], { stdin: lines('abuser', 500) + users })
  expect(verdict).toMatchObject({ refused: 482, clientsTouched: 2, clientsMostlyRefused: 1, heart: { clients: 1, lostShare: 0.96 }, rest: { clients: 1, lostShare: 2 / 22 } })
  expect(verdict!.worst).toEqual([{ client: 'abuser', refused: 480, requests: 500 }, { client: 'user-0', refused: 2, requests: 22 }])
})
