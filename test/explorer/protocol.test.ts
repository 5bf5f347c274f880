/**
 * Every interleaving of the real modules in small models (G1, G2, G3, G5, G8), and every broken twin caught.
 * `npm run stress -- --explore` walks further. A schedule that is printed can be made again: see `replay`.
 */
import { describe, expect, test } from 'vitest'
import type { Core, Patch } from './core.ts'
import { loadCore, loadTwin } from './core.ts'
import type { Failure, Report } from './explorer.ts'
import { explore, replay } from './explorer.ts'
import type { Bounded } from './models.ts'
import { allOfs, counters, insertions, logs, mutexes, policyChanges, reclaims, refunds, refuted, spends, wraps } from './models.ts'
import type { Plan } from './plan.ts'
import { build } from './plan.ts'
import { drawFrom, randomPlan } from './random-plan.ts'
import { storesUnderTheLock, twins } from '../twins/twins.ts'

const deep = process.env.HOTBUCKET_EXPLORE === 'deep'
const TIMEOUT = deep ? 3_600_000 : 120_000

/**
 * An unsettled claim in a full group is looked at again 64 times; once again shows all that can happen, in far fewer
 * states. Models with a slot for every key run the code as it is.
 */
const PATIENCE: Patch = { from: 'const PATIENCE = 64;', to: 'const PATIENCE = 1;' }

function walk(core: Core, plan: Bounded, states = deep ? 3_000_000 : 400_000): Report & { trace: string[] } {
  const preemptions = (deep ? plan.deep : plan.bound) ?? plan.preemptions ?? Infinity
  const { model, checks } = build(core, { ...plan, preemptions })
  const report = explore(model, checks, { states, steps: 300 })
  const trace = report.failure === undefined ? [] : replay(model, checks, report.failure.schedule).trace
  return { ...report, trace }
}

function summary({ states, schedules, ends, complete }: Report, { bound, deep: far }: Bounded): string {
  const most = deep ? far : bound
  const scope = most === undefined || most === Infinity ? 'all' : `all with at most ${most} preemptions`
  return `${states} states, ${schedules} schedules (${complete ? scope : 'cut off'}), ${ends} ends`
}

const core = await loadCore()
const impatient = await loadTwin({ name: 'one more look', patches: [PATIENCE] })

describe.each(Object.entries({ spends, insertions, reclaims, refunds, logs, counters, allOfs, policyChanges, mutexes }))('%s', (_, plans: Record<string, Bounded>) => {
  test.each(Object.entries(plans))('%s: no schedule gives an answer that no order of the calls gives', (name, plan) => {
    const began = performance.now()
    const { trace, ...report } = walk(plan.mayBeFull === true ? impatient : core, plan)
    console.log(`${name}: ${summary(report, plan)}, ${Math.round(performance.now() - began)} ms`)
    expect({ failure: report.failure, trace }).toEqual({ failure: undefined, trace: [] })
    expect(report.complete || deep).toBe(true)
  }, TIMEOUT)
})

describe('refuted', () => {
  // When one of these passes, its fault is mended: move the model up to the others.
  test.each(Object.entries(refuted))('%s: the code as it is has a schedule that no order of the calls explains, or that does not end', (name, plan: Bounded) => {
    const { failure, states } = walk(plan.mayBeFull === true ? impatient : core, plan)
    console.log(`${name}: refuted in ${states} states by ${failure?.schedule} (${failure?.reason})`)
    expect(failure?.reason).toMatch(/no order of the calls|livelock/)
  }, TIMEOUT)
})

describe('generations that come round', () => {
  /** The code as it is, but that a generation has `bits` bits instead of 7. */
  const narrow = (bits: number): Promise<Core> =>
    loadTwin({ name: `${bits} bits of generation`, patches: [PATIENCE, { from: '(word.generationOf(word.hiOf(seen)) + 1) & 0x7f', to: `(word.generationOf(word.hiOf(seen)) + 1) & ${2 ** bits - 1}` }] })

  test.each(deep ? [1, 2] : [1])('%s bits: one claim fewer than all generations deceives nobody, all of them a call stalled on a log or within one tick', async (bits) => {
    const core = await narrow(bits)
    for (const claims of [2 ** bits - 1, 2 ** bits]) {
      for (const [name, plan] of Object.entries(wraps(claims))) {
        const report = walk(core, plan)
        const { failure } = report
        console.log(`${bits} bits, ${claims} claims, ${name}: ${failure === undefined ? summary(report, plan) : `refuted in schedule ${report.schedules + 1} by ${failure.schedule} (${failure.reason})`}`)
        const hole = claims === 2 ** bits && name !== 'a bucket under a clock that goes on'
        expect({ claims, name, reason: failure?.reason }).toEqual({ claims, name, reason: hole ? expect.stringMatching('no order of the calls') : undefined })
      }
    }
  }, TIMEOUT)
})

describe('random models', () => {
  const seed = Number(process.env.HOTBUCKET_SEED ?? 20_261_130)
  const plans = deep ? 300 : 24

  /** The first plan that fails, or undefined; at most 12,000 states each. */
  function firstFault(twin: Core): { plan: Plan; failure: Failure; plans: number; states: number } | { failure: undefined; states: number } {
    const draw = drawFrom(seed)
    let states = 0
    for (let i = 1; i <= plans; i++) {
      const plan = randomPlan(draw)
      const report = walk(twin, plan, deep ? 50_000 : 12_000)
      states += report.states
      if (report.failure !== undefined) return { plan, failure: report.failure, plans: i, states }
    }
    return { failure: undefined, states }
  }

  test(`${plans} models drawn from the seed ${seed} give no answer that no order of the calls gives`, () => {
    const { states, ...fault } = firstFault(impatient)
    console.log(`${plans} random models, seed ${seed}: ${states} states`)
    expect(fault).toEqual({ failure: undefined })
  }, TIMEOUT)

  test('a twin that inserts without a scan is caught by them', async () => {
    const { patches } = twins.find(({ name }) => name === 'inserts without a scan')!
    const fault = firstFault(await loadTwin({ name: 'no scan', patches: [PATIENCE, ...patches] }))
    console.log(`random models: caught in ${fault.states} states by ${fault.failure?.schedule}`)
    expect(fault.failure).toBeDefined()
  }, TIMEOUT)
})

describe('broken twins', () => {
  test.each(twins)('a twin that $name is caught', async ({ name, patches, by, says }) => {
    const began = performance.now()
    const report = walk(await loadTwin({ name, patches: [PATIENCE, ...patches] }), by)
    console.log(`${name}: caught in schedule ${report.schedules + 1}, ${report.states} states, by ${report.failure?.schedule} (${report.failure?.reason}), ${Math.round(performance.now() - began)} ms`)
    expect(report.failure?.reason).toMatch(says)
  }, TIMEOUT)

  test('plain stores pass under the lock while no wait times out: it excludes', async () => {
    const report = walk(await loadTwin(storesUnderTheLock), mutexes['three threads at one lock'])
    expect(report).toMatchObject({ failure: undefined, complete: true })
  }, TIMEOUT)
})
