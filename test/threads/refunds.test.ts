/** `refund` and `reset` from several threads: what is held is what is missing (G1, G2). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { admitted, bench, engines } from '../engines.ts'
import { seed } from '../oracle/timeline.ts'
import type { Fault } from './crew.ts'
import { Crew, sum, sums } from './crew.ts'
import { policiesOf } from './policies.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const LIMIT = 40
const ROUNDS = 6
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

const limiterOf = (sync: Engine, policy: Policy, fault?: Fault) =>
  bench(sync, policy, { startMs: 12_345, maxKeys: 64, lockTimeoutMs: fault === undefined ? 50 : 1 }).limiter

async function spendAndRefund(sync: Engine, policy: Policy, fault?: Fault) {
  const limiter = limiterOf(sync, policy, fault)
  const held = sums(await crew.run<number[]>('spendAndRefund', { handle: limiter.handle, rounds: ROUNDS, calls: 600, seed }, { fault }))
  const missing = held.map((_, round) => LIMIT - limiter.peek(`round ${round}`).remaining)
  return { held, missing, limiter }
}

async function spendAndReset(sync: Engine, policy: Policy, fault?: Fault) {
  const limiter = limiterOf(sync, policy, fault)
  return sums(await crew.run<number[]>('spendAndReset', { handle: limiter.handle, rounds: 30, calls: LIMIT, resetters: 3 }, { fault }))
}

async function spendWhileReset(sync: Engine, policy: Policy, fault?: Fault) {
  const limiter = limiterOf(sync, policy, fault)
  const [spent, resets] = sums(await crew.run<number[]>('spendWhileReset', { handle: limiter.handle, calls: 2_000, resetters: 2 }, { fault })) as [number, number]
  return { spent, resets, limiter }
}

for (const sync of engines) {
  describe.each(policiesOf(LIMIT, 60_000))(`$name under ${sync}`, ({ policy }) => {
    it('after 8 threads have spent and given back at random, exactly what they hold is missing', async () => {
      const { held, missing, limiter } = await spendAndRefund(sync, policy)
      expect(Math.max(...held)).toBeLessThanOrEqual(LIMIT)
      expect(missing).toEqual(held)
      for (const [round, gone] of missing.entries()) expect(admitted(limiter, `round ${round}`, LIMIT + 8)).toBe(LIMIT - gone)
    })

    it('after a reset by three threads at once all eight together get exactly the limit again', async () => {
      expect(await spendAndReset(sync, policy)).toEqual(new Array(30).fill(LIMIT))
    })

    it('reset again and again while the others spend, admits the limit once for each reset and once more at most', async () => {
      const { spent, resets, limiter } = await spendWhileReset(sync, policy)
      expect(resets).toBe(40)
      expect(spent).toBeLessThanOrEqual(LIMIT * (resets + 1))
      expect(spent).toBeGreaterThanOrEqual(LIMIT)
      limiter.reset('k')
      expect(limiter.peek('k')).toMatchObject({ remaining: LIMIT, resetAfterMs: 0 })
      expect(admitted(limiter, 'k', 2 * LIMIT)).toBe(LIMIT)
    })
  })

  describe(`the load/store twin under ${sync}`, () => {
    const { policy } = policiesOf(LIMIT, 60_000)[0]!

    it('loses spends and refunds: what is held is not what is missing', CAUGHT_IN_TIME, async () => {
      const { held, missing } = await spendAndRefund(sync, policy, 'load-store')
      expect(missing).not.toEqual(held)
    })

    it('gives more than the limit after a reset', CAUGHT_IN_TIME, async () => {
      expect(sum(await spendAndReset(sync, policy, 'load-store'))).toBeGreaterThan(30 * LIMIT)
    })
  })
}
