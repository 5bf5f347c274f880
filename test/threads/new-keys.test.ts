/** Workers meeting the same new keys at the same time: one bucket a key (G3). */
// OA-02: https://github.com/BaseIntelligence/bounty-challenge/issues/13203
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/index.ts'
import type { Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Fault } from './crew.ts'
import { Crew, sum } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

const KEYS = 10_000
/** Of the twin, which is caught on some of them or is run again. */
const TWIN_KEYS = 1_000
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(16)))
afterAll(() => crew[Symbol.asyncDispose]())

async function meet(sync: Engine, size: number, atOnce: boolean, fault?: Fault) {
  const asked = fault === undefined ? KEYS : TWIN_KEYS
  const { limiter } = bench(sync, tokenBucket({ limit: 1, periodMs: 1_000, burst: 1 }), { maxKeys: asked })
  const admitted = sum(await crew.run<number>('meetKeys', { handle: limiter.handle, keys: asked, atOnce }, { size, fault }))
  const { keys, tableFull } = limiter.stats()
  return { admitted, keys, tableFull }
}

describe.each(engines)('%s', (sync) => {
  const exactly = { admitted: KEYS, keys: KEYS, tableFull: 0 }

  it('8 workers meeting 10,000 new keys of capacity 1 in the same order admit exactly 10,000, on 10,000 slots (G1, G3)', async () => {
    expect(await meet(sync, 8, false)).toEqual(exactly)
  })

  it('16 workers with a barrier before each of 10,000 keys admit exactly 10,000, on 10,000 slots (G3, OA-02)', async () => {
    expect(await meet(sync, 16, true)).toEqual(exactly)
  })

  it('of the load/store twin admit more than there are keys', CAUGHT_IN_TIME, async () => {
    expect((await meet(sync, 8, false, 'load-store')).admitted).toBeGreaterThan(TWIN_KEYS)
  })
})
