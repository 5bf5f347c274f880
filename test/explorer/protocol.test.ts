/**
 * Every interleaving of the real modules in small models (G1, G2, G3, G5, G8), and every broken twin caught.
 * HOTBUCKET_EXPLORE=deep walks further. A schedule that is printed can be made again: see `replay`.
 */
import { describe, expect, test } from 'vitest'
import type { Core, Patch } from './core.ts'
import { loadCore, loadTwin } from './core.ts'
import type { Report } from './explorer.ts'
import { explore, replay } from './explorer.ts'
import type { Bounded } from './models.ts'
import { insertions, mutexes, reclaims, spends } from './models.ts'
import { build } from './plan.ts'
import { storesUnderTheLock, twins } from '../twins/twins.ts'

const deep = process.env.HOTBUCKET_EXPLORE === 'deep'
const TIMEOUT = deep ? 3_600_000 : 60_000

/**
 * An unsettled claim in a full group is looked at again 64 times; once again shows all that can happen, in far fewer
 * states. Models with a slot for every key run the code as it is.
 */
const PATIENCE: Patch = { file: 'table.js', from: 'const PATIENCE = 64;', to: 'const PATIENCE = 1;' }

function walk(core: Core, plan: Bounded): Report & { trace: string[] } {
  const preemptions = deep ? plan.deep : plan.bound
  const { model, checks } = build(core, preemptions === undefined ? plan : { ...plan, preemptions })
  const report = explore(model, checks, { states: deep ? 8_000_000 : 400_000, steps: 250 })
  const trace = report.failure === undefined ? [] : replay(model, checks, report.failure.schedule).trace
  return { ...report, trace }
}

function summary({ states, schedules, ends, complete }: Report, { bound, deep: far }: Bounded): string {
  const most = deep ? far : bound
  const scope = most === undefined ? 'all' : `all with at most ${most} preemptions`
  return `${states} states, ${schedules} schedules (${complete ? scope : 'cut off'}), ${ends} ends`
}

const core = await loadCore()
const impatient = await loadTwin({ name: 'one more look', patches: [PATIENCE] })

describe.each(Object.entries({ spends, insertions, reclaims, mutexes }))('%s', (_, plans: Record<string, Bounded>) => {
  test.each(Object.entries(plans))('%s: no schedule gives an answer that no order of the calls gives', (name, plan) => {
    const began = performance.now()
    const { trace, ...report } = walk(plan.mayBeFull === true ? impatient : core, plan)
    console.log(`${name}: ${summary(report, plan)}, ${Math.round(performance.now() - began)} ms`)
    expect({ failure: report.failure, trace }).toEqual({ failure: undefined, trace: [] })
    expect(report.complete).toBe(true)
  }, TIMEOUT)
})

describe('broken twins', () => {
  test.each(twins)('a twin that $name is caught', async ({ name, patches, by, says }) => {
    const began = performance.now()
    const report = walk(await loadTwin({ name, patches: [PATIENCE, ...patches] }), by)
    console.log(`${name}: caught in ${report.states} states by ${report.failure?.schedule} (${report.failure?.reason}), ${Math.round(performance.now() - began)} ms`)
    expect(report.failure?.reason).toMatch(says)
  }, TIMEOUT)

  test('plain stores pass under the lock while no wait times out: it excludes', async () => {
    const report = walk(await loadTwin(storesUnderTheLock), mutexes['three threads at one lock'])
    expect(report).toMatchObject({ failure: undefined, complete: true })
  }, TIMEOUT)
})
