/** Each broken twin is caught by the model that is named for it, and random models find what nobody thought of. */
import { describe, expect, test } from 'vitest'
import type { Core } from './core.ts'
import { loadTwin } from './core.ts'
import type { Failure } from './explorer.ts'
import { mutexes } from './models.ts'
import type { Plan } from './plan.ts'
import { drawFrom, randomPlan } from './random-plan.ts'
import { deep, IMPATIENCE, TIMEOUT, walk } from './walk.ts'
import { storesUnderTheLock, twins } from '../twins/twins.ts'

const impatient = await loadTwin({ name: 'one more look', patches: IMPATIENCE })

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
    const fault = firstFault(await loadTwin({ name: 'no scan', patches: [...IMPATIENCE, ...patches] }))
    console.log(`random models: caught in ${fault.states} states by ${fault.failure?.schedule}`)
    expect(fault.failure).toBeDefined()
  }, TIMEOUT)
})

describe('broken twins', () => {
  test.each(twins)('a twin that $name is caught', async ({ name, patches, by, says }) => {
    const began = performance.now()
    const report = walk(await loadTwin({ name, patches: [...IMPATIENCE, ...patches] }), by)
    console.log(`${name}: caught in schedule ${report.schedules + 1}, ${report.states} states, by ${report.failure?.schedule} (${report.failure?.reason}), ${Math.round(performance.now() - began)} ms`)
    expect(report.failure?.reason).toMatch(says)
  }, TIMEOUT)

  test('plain stores pass under the lock while no wait times out: it excludes', async () => {
    const report = walk(await loadTwin(storesUnderTheLock), mutexes['three threads at one lock'])
    expect(report).toMatchObject({ failure: undefined, complete: true })
  }, TIMEOUT)
})
