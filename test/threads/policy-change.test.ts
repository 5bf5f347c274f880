/** `setPolicy` while eight threads spend (G1), and after it has returned. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum, sums } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const [HIGH, LOW] = [600, 60]
const WINDOW_MS = 60_000
const ROUNDS = 4
/** Of a twin, which is caught in the first of them or is run again. */
const TWIN_ROUNDS = 2
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(9)))
afterAll(() => crew[Symbol.asyncDispose]())

const makers: readonly { readonly name: string; readonly make: (limit: number) => Policy }[] = [
  { name: 'token bucket', make: (limit) => tokenBucket({ limit, periodMs: WINDOW_MS }) },
  { name: 'fixed window', make: (limit) => fixedWindow({ limit, windowMs: WINDOW_MS }) },
  { name: 'anchored window', make: (limit) => fixedWindow({ limit, windowMs: WINDOW_MS, anchored: 'first' }) },
  { name: 'sliding window counter', make: (limit) => slidingWindowCounter({ limit, windowMs: WINDOW_MS }) },
  { name: 'allOf', make: (limit) => allOf(tokenBucket({ limit, periodMs: WINDOW_MS }), fixedWindow({ limit: 2 * limit, windowMs: 1_000 })) },
]

async function spendThrough(sync: Engine, first: Policy, changes: readonly Policy[], fault?: Fault) {
  const { limiter } = bench(sync, first, { startMs: 12_345, maxKeys: 64, lockTimeoutMs: fault === undefined ? 50 : 1 })
  const data = { handle: limiter.handle, rounds: fault === undefined ? ROUNDS : TWIN_ROUNDS, calls: 400, changes }
  const spent = sums(await crew.run<number[]>('spendThroughChanges', data, { fault }))
  return { spent, left: spent.map((_, round) => limiter.peek(`round ${round}`).remaining) }
}

async function obey(sync: Engine, changes: readonly Policy[], fault?: Fault) {
  const { limiter } = bench(sync, changes.at(-1)!, { startMs: 12_345, maxKeys: 256, lockTimeoutMs: fault === undefined ? 50 : 1 })
  const told = await crew.run<[limit: number, taken: number][]>('obeyChanges', { handle: limiter.handle, changes, calls: 200 }, { fault })
  return changes.map((_, change) => ({ limits: [...new Set(told.map((each) => each[change]![0]))], taken: sum(told.map((each) => each[change]![1])) }))
}

for (const sync of engines) {
  describe.each(makers)(`$name under ${sync}`, ({ make }) => {
    const changes = Array.from({ length: 40 }, (_, change) => make(change % 2 === 0 ? LOW : HIGH))

    it(`lowered and raised 40 times while 8 threads spend, admits no more than ${HIGH}, and at the end has nothing left (G1)`, async () => {
      const { spent, left } = await spendThrough(sync, make(HIGH), changes)
      expect(Math.max(...spent)).toBeLessThanOrEqual(HIGH)
      expect(Math.min(...spent)).toBeGreaterThanOrEqual(LOW)
      expect(left).toEqual(new Array(ROUNDS).fill(0))
    })

    it('is obeyed by the next call of every thread after setPolicy returned, and a new key gets exactly the new limit', async () => {
      const limits = Array.from({ length: 16 }, (_, change) => 50 + 10 * ((change * 7) % 16))
      expect(await obey(sync, limits.map(make))).toEqual(limits.map((limit) => ({ limits: [limit], taken: limit })))
    })
  })

  describe(`sliding window log under ${sync}`, () => {
    // Its limit is fixed in the ring; the window is what changes. At a frozen clock no window admits more than the limit.
    it('with its window changed 40 times while 8 threads spend, admits no more than its limit (G1)', async () => {
      const make = (windowMs: number) => slidingWindowLog({ limit: HIGH, windowMs })
      const { spent, left } = await spendThrough(sync, make(WINDOW_MS), Array.from({ length: 40 }, (_, change) => make(change % 2 === 0 ? 1_000 : WINDOW_MS)))
      expect(Math.max(...spent)).toBeLessThanOrEqual(HIGH)
      // A call that a change overtakes may be charged twice, and never less than once.
      expect(Math.min(...spent)).toBeGreaterThanOrEqual(HIGH - 40 * 8)
      expect(left).toEqual(new Array(ROUNDS).fill(0))
    })
  })

  describe(`twins under ${sync}`, () => {
    const make = makers[0]!.make

    it('the load/store twin admits more than the greater policy', CAUGHT_IN_TIME, async () => {
      const { spent } = await spendThrough(sync, make(HIGH), Array.from({ length: 4 }, (_, change) => make(change % 2 === 0 ? LOW : HIGH)), 'load-store')
      expect(sum(spent)).toBeGreaterThan(TWIN_ROUNDS * HIGH)
    })

    it('threads that do not look at the version again go on by the old policy', CAUGHT_IN_TIME, async () => {
      const changes = [make(HIGH), make(LOW)]
      const told = await obey(sync, changes, 'stale-policy')
      expect(told).not.toEqual([HIGH, LOW].map((limit) => ({ limits: [limit], taken: limit })))
    })
  })
}
