/** A clock that moves while eight threads spend: what came in goes out, no more and no less (G1, G2, G9). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())

interface Spent {
  readonly admitted: number
  readonly reachedMs: number
}

async function spend(sync: Engine, limit: number, periodMs: number, fault?: Fault) {
  const burst = 1_000
  const lockTimeoutMs = fault === undefined ? 50 : 1
  // Slots to spare: in a table of one, a thread that meets another's claim of it while the clock moves is told that the table is full.
  const { limiter } = bench(sync, tokenBucket({ limit, periodMs, burst }), { maxKeys: 8, lockTimeoutMs })
  const spent = await crew.run<Spent>('spendAll', { handle: limiter.handle, endMs: 20_000 }, { fault })
  const reachedMs = Math.max(...spent.map((each) => each.reachedMs))
  const income = Math.floor((reachedMs * limit) / periodMs)
  return { admitted: sum(spent.map((each) => each.admitted)), most: burst + income }
}

describe.each(engines)('%s', (sync) => {
  it.each([
    [1, 1],
    [7, 10],
    [3, 1_000],
  ])('8 workers spend the burst and exactly the income at %i per %i ms, whatever the clock does between (G1, G2)', async (limit, periodMs) => {
    const { admitted, most } = await spend(sync, limit, periodMs)
    expect(admitted).toBe(most)
  })

  it('of the load/store twin spend more than came in', CAUGHT_IN_TIME, async () => {
    const { admitted, most } = await spend(sync, 1, 1, 'load-store')
    expect(admitted).toBeGreaterThan(most)
  })
})
