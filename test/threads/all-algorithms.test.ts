/**
 * Eight real workers at a frozen clock, for every algorithm: exactly what one thread would admit (G1, G2).
 *
 * `allOf` looks at all parts, then charges them in order and gives back where another thread took the last of a part
 * meanwhile. A call of cost 1 gives back only when a later part is exhausted for good, so its total is exact too.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum, sums } from './crew.ts'
import { policiesOf } from './policies.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const LIMIT = 500
const ROUNDS = 6
/** Of a twin, which is caught in the first of them or is run again. */
const TWIN_ROUNDS = 2
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

async function rounds(sync: Engine, policy: Policy, costs: readonly number[], fault?: Fault) {
  const [lockTimeoutMs, count] = fault === undefined ? [50, ROUNDS] : [1, TWIN_ROUNDS]
  const { limiter } = bench(sync, policy, { startMs: 12_345, maxKeys: 64, lockTimeoutMs })
  const spent = sums(await crew.run<number[]>('hammer', { handle: limiter.handle, rounds: count, calls: LIMIT, costs }, { fault }))
  const left = spent.map((_, round) => limiter.peek(`round ${round}`).remaining)
  return { spent, left, stats: limiter.stats() }
}

for (const sync of engines) {
  describe.each(policiesOf(LIMIT, 60_000))(`$name under ${sync}`, ({ name, policy }) => {
    it(`8 workers admit exactly ${LIMIT} in each of ${ROUNDS} rounds (G1, G2)`, async () => {
      const { spent, left, stats } = await rounds(sync, policy, [1])
      expect(spent).toEqual(new Array(ROUNDS).fill(LIMIT))
      expect(left).toEqual(new Array(ROUNDS).fill(0))
      expect(stats).toMatchObject({ allowed: ROUNDS * LIMIT, denied: ROUNDS * LIMIT * 7, tableFull: 0, contended: 0 })
    })

    it('8 workers with costs of 1, 2 and 3 spend exactly what is missing, and nothing is left (G1)', async () => {
      const { spent, left } = await rounds(sync, policy, [1, 2, 3])
      for (const [round, each] of spent.entries()) {
        // A part of allOf may have been charged and given back just as a cost of 1 came by for the last time.
        if (name.startsWith('allOf')) expect(each).toBeLessThanOrEqual(LIMIT)
        else expect(each).toBe(LIMIT)
        expect(left[round]).toBeLessThanOrEqual(LIMIT - each)
      }
    })

    it('8 workers of the load/store twin admit more', CAUGHT_IN_TIME, async () => {
      const { spent } = await rounds(sync, policy, [1], 'load-store')
      expect(sum(spent)).toBeGreaterThan(TWIN_ROUNDS * LIMIT)
    })
  })
}
