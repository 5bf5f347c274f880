/** The coarse clock's cell through every schedule of its publishers and readers, unchanged, and each broken twin caught. */
import { describe, expect, test } from 'vitest'
import type { World } from './actor.ts'
import { Cast } from './actor.ts'
import type { Core, Twin } from './core.ts'
import { loadCore, loadTwin } from './core.ts'
import type { Checks } from './explorer.ts'
import { explore } from './explorer.ts'
import type { Model } from './world.ts'

type Ticks = Core['Ticks']['prototype']

/** What an actor does with its clock; `told` is a cell by which it tells another what it has read. */
type Part = (ticks: Ticks, world: World, told: Int32Array) => void

function modelOf(core: Core, parts: readonly Part[], options: Partial<Model>): Model {
  const { buffer } = new core.TickCell(1)
  const [cell, told] = Cast.over(buffer, () => [new core.TickCell(buffer), new Int32Array(buffer, 0, 1)] as const)
  return {
    buffer,
    shared: [{ from: 0, to: 4 }, { from: 64, to: 80 }],
    actors: parts.map((part) => (world) => part(new core.Ticks(cell, world), world, told)),
    plain: 'turns',
    ...options,
  }
}

const publish: Part = (ticks) => ticks.publish()

/** Reads again and again, and tells each time beside the true one after it. */
const read = (times: number): Part => (ticks, world) => {
  for (let time = 0; time < times; time++) world.emit({ ms: ticks.nowMs(), trueMs: world.nowMs() })
}

const tell: Part = (ticks, _, told) => void Atomics.store(told, 0, ticks.nowMs())

/** Reads until a reading may be used twice, is told another's, and catches up. */
const hear: Part = (ticks, world, told) => {
  ticks.nowMs()
  const heard = Atomics.load(told, 0)
  ticks.catchUp()
  world.emit({ heard, ms: ticks.nowMs() })
}

const rising: Checks = {
  atEnd: ({ emitted }) => {
    for (const each of emitted as readonly (readonly { ms: number; trueMs: number }[])[]) {
      if (each.some(({ ms }, at) => at > 0 && ms < each[at - 1]!.ms)) return 'a reading steps back'
      if (each.some(({ ms, trueMs }) => ms > trueMs)) return 'a reading is ahead of the true clock'
    }
    return undefined
  },
}

const caughtUp: Checks = {
  atEnd: ({ emitted }) => ((emitted.flat() as { heard: number; ms: number }[]).some(({ heard, ms }) => ms < heard) ? 'a reading is older than one it knew of' : undefined),
}

const models = {
  'two publishers and a reader, one killed': { parts: [publish, publish, read(2)], options: { times: [5, 6], kills: 1, preemptions: 4 }, checks: rising },
  'a dead ticker and two readers, which publish': { parts: [read(2), read(2)], options: { times: [1, 20, 21], preemptions: 4 }, checks: rising },
  'a reader that tells and one that hears, beside a publisher that may be killed': { parts: [publish, tell, hear], options: { times: [5, 6], kills: 1, preemptions: 4 }, checks: caughtUp },
} satisfies Record<string, { parts: readonly Part[]; options: Partial<Model>; checks: Checks }>

type Name = keyof typeof models

function walk(core: Core, name: Name) {
  const { parts, options, checks } = models[name]
  return explore(modelOf(core, parts, options), checks, { states: 400_000 })
}

const core = await loadCore()

test.each(Object.keys(models) as Name[])('%s: no reading steps back, is early, or is older than one it knew of (G9)', (name) => {
  const { failure, complete, states, schedules, ends } = walk(core, name)
  console.log(`${name}: ${states} states, ${schedules} schedules, ${ends} ends`)
  expect({ failure, complete }).toEqual({ failure: undefined, complete: true })
})

describe('broken twins', () => {
  const twins: readonly (Twin & { readonly by: Name; readonly says: string })[] = [
    {
      name: 'publishes by a store',
      by: 'two publishers and a reader, one killed',
      says: 'a reading steps back',
      patches: [{
        from: 'return time < wanted && Atomics.compareExchange(this.cell, 0, time, wanted) === time;',
        to: 'if (time < wanted) Atomics.store(this.cell, 0, wanted); return time < wanted;',
      }],
    },
    {
      name: 'publishes without a look at what is there',
      by: 'two publishers and a reader, one killed',
      says: 'a reading steps back',
      patches: [{ from: 'return time < wanted && Atomics', to: 'return time !== wanted && Atomics' }],
    },
    {
      name: 'never catches up but where the hint moves',
      by: 'a reader that tells and one that hears, beside a publisher that may be killed',
      says: 'a reading is older than one it knew of',
      patches: [
        { from: 'catchUp() { this.ms = this.cell.ms; }', to: 'catchUp() {}' },
        { from: 'this.catchUp(); return this.ms;', to: 'return (this.ms = this.cell.ms);' },
      ],
    },
    {
      name: 'publishes a tick that is yet to come',
      by: 'a dead ticker and two readers, which publish',
      says: 'a reading is ahead of the true clock',
      patches: [{
        from: 'this.cell.raise(this.trueClock.nowMs());',
        to: 'this.cell.raise(this.trueClock.nowMs() + this.cell.intervalMs);',
      }],
    },
  ]

  test.each(twins)('a twin that $name is caught', async ({ by, says, ...twin }) => {
    const { failure, states } = walk(await loadTwin(twin), by)
    console.log(`${twin.name}: caught in ${states} states by ${failure?.schedule}`)
    expect(failure?.reason).toBe(says)
  })
})
