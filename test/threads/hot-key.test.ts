/** Eight real workers on one key at a frozen clock: exactly what one thread would admit (G1, G2). */
// OA-01: https://github.com/Netflix/concurrency-limits/issues/140
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum, sums } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const ROUNDS = 50
/** Of a twin, which is caught in the first of them or is run again. */
const TWIN_ROUNDS = 4
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

/** What all workers together spend of a new bucket in each round, and what remains of it. */
async function rounds(sync: Engine, burst: number, costs: readonly number[], fault?: Fault) {
  // A broken lock stays locked; the twin need not wait long for that.
  const [lockTimeoutMs, count] = fault === undefined ? [50, ROUNDS] : [1, TWIN_ROUNDS]
  const { limiter } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst }), { maxKeys: 100, lockTimeoutMs })
  const spent = sums(await crew.run<number[]>('hammer', { handle: limiter.handle, rounds: count, calls: 1_000, costs }, { fault }))
  const left = spent.map((_, round) => limiter.peek(`round ${round}`).remaining)
  return { spent, left, stats: limiter.stats() }
}

describe.each(engines)('%s: 8 workers on one key of capacity 1,000', (sync) => {
  it(`admit exactly 1,000 in each of ${ROUNDS} rounds (G1, G2, OA-01)`, async () => {
    const { spent, left, stats } = await rounds(sync, 1_000, [1])
    expect(spent).toEqual(new Array(ROUNDS).fill(1_000))
    expect(left).toEqual(new Array(ROUNDS).fill(0))
    expect(stats).toMatchObject({ allowed: ROUNDS * 1_000, denied: ROUNDS * 7_000, keys: ROUNDS, tableFull: 0, contended: 0 })
  })

  it('with costs of 1, 2 and 3 and capacity 1,001 spend all but at most 2, and exactly what is missing (G1, OA-01)', async () => {
    const { spent, left } = await rounds(sync, 1_001, [1, 2, 3])
    // Cost 1 comes round to every worker after the last cost that fits, so nothing is left at all.
    expect(spent).toEqual(new Array(ROUNDS).fill(1_001))
    expect(left).toEqual(new Array(ROUNDS).fill(0))
  })

  it('of the load/store twin admit more, with cost 1 and with mixed costs', CAUGHT_IN_TIME, async () => {
    for (const [burst, costs] of [[1_000, [1]], [1_001, [1, 2, 3]]] as const) {
      const { spent } = await rounds(sync, burst, costs, 'load-store')
      expect(sum(spent)).toBeGreaterThan(TWIN_ROUNDS * burst)
    }
  })
})
