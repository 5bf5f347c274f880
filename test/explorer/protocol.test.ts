/**
 * Every interleaving of the real modules in small models (G1, G2, G3, G5, G8). `npm run stress -- --explore` walks
 * further. A schedule that is printed can be made again: see `replay`. `twins.test.ts` has the broken twins.
 */
import { describe, expect, test } from 'vitest'
import type { Core } from './core.ts'
import { loadCore, loadTwin } from './core.ts'
import type { Bounded } from './models.ts'
import { allOfs, counters, insertions, logs, mutexes, policyChanges, reclaims, refunds, refuted, spends, wraps } from './models.ts'
import { deep, IMPATIENCE, summary, TIMEOUT, walk } from './walk.ts'

const core = await loadCore()
const impatient = await loadTwin({ name: 'one more look', patches: IMPATIENCE })

describe.each(Object.entries({ spends, insertions, reclaims, refunds, logs, counters, allOfs, policyChanges, mutexes }))('%s', (_, plans: Record<string, Bounded>) => {
  test.each(Object.entries(plans))('%s: no schedule gives an answer that no order of the calls gives', (name, plan) => {
    const began = performance.now()
    const { trace, ...report } = walk(plan.mayBeFull === true || plan.late !== undefined ? impatient : core, plan)
    console.log(`${name}: ${summary(report, plan)}, ${Math.round(performance.now() - began)} ms`)
    expect({ failure: report.failure, trace }).toEqual({ failure: undefined, trace: [] })
    expect(report.complete || deep).toBe(true)
  }, TIMEOUT)
})

describe('refuted', () => {
  // When one of these passes, its fault is mended: move the model up to the others.
  test.each(Object.entries(refuted))('%s: the code as it is has a schedule that no order of the calls explains, or that does not end', (name, plan: Bounded) => {
    const { failure, states } = walk(plan.mayBeFull === true || plan.late !== undefined ? impatient : core, plan)
    console.log(`${name}: refuted in ${states} states by ${failure?.schedule} (${failure?.reason})`)
    expect(failure?.reason).toMatch(/no order of the calls|livelock/)
  }, TIMEOUT)
})

describe('generations that come round', () => {
  /** The code as it is, but that a generation has `bits` bits instead of 7. */
  const narrow = (bits: number): Promise<Core> =>
    loadTwin({ name: `${bits} bits of generation`, patches: [...IMPATIENCE, { from: '(word.generationOf(word.hiOf(seen)) + 1) & 0x7f', to: `(word.generationOf(word.hiOf(seen)) + 1) & ${2 ** bits - 1}` }] })

  test.each(deep ? [1, 2] : [1])('%s bits: one claim fewer than all generations deceives nobody, all of them a call stalled within one tick', async (bits) => {
    const core = await narrow(bits)
    for (const claims of [2 ** bits - 1, 2 ** bits]) {
      for (const [name, plan] of Object.entries(wraps(claims))) {
        const report = walk(core, plan)
        const { failure } = report
        console.log(`${bits} bits, ${claims} claims, ${name}: ${failure === undefined ? summary(report, plan) : `refuted in schedule ${report.schedules + 1} by ${failure.schedule} (${failure.reason})`}`)
        const hole = claims === 2 ** bits && name === 'a bucket that is given back within one tick'
        expect({ claims, name, reason: failure?.reason }).toEqual({ claims, name, reason: hole ? expect.stringMatching('no order of the calls') : undefined })
      }
    }
  }, TIMEOUT)
})
