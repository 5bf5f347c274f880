/** Several limits on one key under real threads: never over, and every part is charged what was admitted (G1, G2). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'
import type { Engine } from '../engines.ts'
import type { Fault } from '../threads/crew.ts'
import { Crew, sums } from '../threads/crew.ts'
import { CAUGHT_IN_TIME } from '../threads/retry.ts'

const ROUNDS = 50
/** Of the twin, which is caught in one of them or is run again. */
const TWIN_ROUNDS = 5
const [LIMIT, CALLS] = [300, 200]
const exact = allOf(tokenBucket({ limit: LIMIT + 7, periodMs: 1_000 }), fixedWindow({ limit: LIMIT, windowMs: 1_000 }), slidingWindowCounter({ limit: LIMIT + 50, windowMs: 1_000 }))
const withLog = allOf(slidingWindowLog({ limit: LIMIT, windowMs: 1_000 }), tokenBucket({ limit: LIMIT + 7, periodMs: 1_000 }))
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(4)))
afterAll(() => crew[Symbol.asyncDispose]())

/** What four threads spend of each key, what is left of it, and what one thread can still spend. */
async function rounds(sync: Engine, policy: Policy, fault?: Fault) {
  const { limiter } = bench(sync, policy, { maxKeys: 400, lockTimeoutMs: fault === undefined ? 50 : 1 })
  const spent = sums(await crew.run<number[]>('hammer', { handle: limiter.handle, rounds: fault === undefined ? ROUNDS : TWIN_ROUNDS, calls: CALLS, costs: [1, 2, 3] }, { fault }))
  const left = spent.map((_, round) => limiter.peek(`round ${round}`).remaining)
  const drained = spent.map((_, round) => admitted(limiter, `round ${round}`, LIMIT))
  return { spent, left, drained, stats: limiter.stats() }
}

describe.each(engines)('%s: 4 workers on keys of three limits', (sync) => {
  it('admit with what is left exactly the least limit, which one thread can spend to the end', async () => {
    const { spent, left, drained, stats } = await rounds(sync, exact)
    expect(spent.map((units, round) => units + left[round]!)).toEqual(new Array(ROUNDS).fill(LIMIT))
    expect(drained).toEqual(left)
    expect(stats).toMatchObject({ tableFull: 0, contended: 0 })
  })

  it('a log among them never admits more', async () => {
    const { spent, drained } = await rounds(sync, withLog)
    for (const [round, units] of spent.entries()) expect(units + drained[round]!).toBeLessThanOrEqual(LIMIT)
  })

  it('of the load/store twin do not', CAUGHT_IN_TIME, async () => {
    const { spent, left } = await rounds(sync, exact, 'load-store')
    expect(spent.some((units, round) => units + left[round]! !== LIMIT)).toBe(true)
  })
})
