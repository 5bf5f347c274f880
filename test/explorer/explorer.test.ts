/** The explorer itself, on textbook faults. */
import { describe, expect, test } from 'vitest'
import type { Actor, World } from './actor.ts'
import { Cast } from './actor.ts'
import type { Checks } from './explorer.ts'
import { explore, replay } from './explorer.ts'
import { format, parse } from './schedule.ts'
import type { Model } from './world.ts'

const cells = new Int32Array(new SharedArrayBuffer(16))
const shared = Cast.standIn(cells)

function model(actors: readonly Actor[], options: Partial<Model> = {}): Model {
  cells.fill(0)
  return { buffer: cells.buffer, shared: [{ from: 0, to: 16 }], actors, ...options }
}

const sumIs = (wanted: number): Checks => ({ atEnd: () => (cells[0] === wanted ? undefined : `the sum is ${cells[0]}`) })

const loadAndStore: Actor = () => void Atomics.store(shared, 0, Atomics.load(shared, 0) + 1)
const add: Actor = () => void Atomics.add(shared, 0, 1)
const plainIncrement: Actor = () => void shared[0]!++
const exchange: Actor = () => {
  for (let seen = Atomics.load(shared, 0); ; ) {
    const was = Atomics.compareExchange(shared, 0, seen, seen + 1)
    if (was === seen) return
    seen = was
  }
}

describe('an addition', () => {
  test('by load and store loses one, and the schedule makes the fault again', () => {
    const report = explore(model([loadAndStore, loadAndStore]), sumIs(2))
    expect(report.failure).toEqual({ reason: 'the sum is 1', schedule: 'a b2 a' })
    const again = replay(model([loadAndStore, loadAndStore]), sumIs(2), 'a b2 a')
    expect(again.reason).toBe('the sum is 1')
    expect(again.trace).toEqual(['a load i32[0] -> 0', 'b load i32[0] -> 0', 'b store i32[0, 1] -> 1', 'a store i32[0, 1] -> 1'])
  })

  test('by a compare-and-swap loop or by add loses none, in any schedule of three', () => {
    expect(explore(model([exchange, exchange, exchange]), sumIs(3))).toMatchObject({ failure: undefined, complete: true })
    // Three actors of one turn each: 3! schedules through 2^3 states.
    expect(explore(model([add, add, add]), sumIs(3))).toMatchObject({ failure: undefined, schedules: 6, states: 8 })
  })

  test('by plain accesses loses one only where they are turns of their own', () => {
    expect(explore(model([plainIncrement, plainIncrement], { plain: 'turns' }), sumIs(2)).failure?.reason).toBe('the sum is 1')
    expect(explore(model([plainIncrement, plainIncrement]), sumIs(2)).failure).toBeUndefined()
  })

  test('counts all schedules of two actors of two turns: 4 over 2', () => {
    expect(explore(model([loadAndStore, loadAndStore]), {}).schedules).toBe(6)
  })

  test('a trace says what each access gave, not what it would have given had nobody else moved', () => {
    const load: Actor = () => void Atomics.load(shared, 0)
    expect(replay(model([load, add]), {}, 'b a').trace).toEqual(['b add i32[0, 1] -> 0', 'a load i32[0] -> 1'])
  })

  test('an exchange is seen whose expected value is written without its sign', () => {
    const unsigned: Actor = () => void Atomics.compareExchange(shared, 0, 0xffff_ffff, 7)
    const down: Actor = () => void Atomics.sub(shared, 0, 1)
    const ends = new Set<number>()
    explore(model([unsigned, down]), { atEnd: () => void ends.add(cells[0]!) })
    expect([...ends].sort()).toEqual([-1, 7])
  })

  test('with no preemption is one of two orders', () => {
    expect(explore(model([loadAndStore, loadAndStore], { preemptions: 0 }), sumIs(2))).toMatchObject({ failure: undefined, schedules: 2 })
    expect(explore(model([loadAndStore, loadAndStore], { preemptions: 1 }), sumIs(2)).failure?.schedule).toBe('a b2 a')
  })
})

describe('kills and time', () => {
  test('a kill falls between any two steps', () => {
    const ends = new Set<string>()
    const twice: Actor = () => {
      Atomics.store(shared, 0, 1)
      Atomics.store(shared, 1, 1)
    }
    explore(model([twice], { kills: 1 }), { atEnd: () => void ends.add(`${cells[0]}${cells[1]}`) })
    expect([...ends].sort()).toEqual(['00', '10', '11'])
  })

  test('the clock ticks between any two steps, and what was emitted counts', () => {
    const ends = new Set<string>()
    const reads: Actor = (world) => {
      const first = world.nowMs()
      world.emit([first, world.nowMs()])
    }
    explore(model([reads], { times: [1, 2] }), { atEnd: ({ emitted }) => void ends.add(JSON.stringify(emitted[0])) })
    expect([...ends].sort()).toEqual(['[[1,1]]', '[[1,2]]', '[[2,2]]'])
  })

  test('an actor that goes round for ever is a livelock', () => {
    const spins: Actor = () => {
      while (Atomics.load(shared, 0) === 0);
    }
    expect(explore(model([spins]), {}, { steps: 50 }).failure?.reason).toMatch('livelock')
  })

  test('what an actor throws is a fault', () => {
    const throws: Actor = () => {
      if (Atomics.load(shared, 0) === 1) throw new RangeError('one')
    }
    expect(explore(model([throws, add]), {}).failure).toEqual({ reason: 'an actor threw RangeError: one', schedule: 'b a' })
  })

  test('an actor that depends on anything else is refused', () => {
    let runs = 0
    const fickle: Actor = () => {
      Atomics.load(shared, runs++ % 2)
      Atomics.load(shared, 0)
    }
    expect(explore(model([fickle]), {}).failure?.reason).toMatch('not deterministic')
  })

  test('a run may start at a checkpoint: an actor begins where it is told, or is refused', () => {
    const thrice = (begin: (world: World) => number): Actor => (world) => {
      for (let round = begin(world); round < 3; round++) {
        world.emit(Atomics.add(shared, 0, 1))
        world.checkpoint('')
      }
    }
    const told = explore(model([thrice(({ from }) => from?.emitted ?? 0), add]), sumIs(4))
    expect(told).toMatchObject({ failure: undefined, schedules: 4 })
    expect(explore(model([thrice(() => 0), add]), sumIs(4)).failure?.reason).toMatch('must begin where')
  })

  test('what an actor has emitted by a kill is as it was then, whatever becomes of it later', () => {
    const gathers: Actor = (world) => {
      const seen: number[] = []
      for (let i = 0; i < 2; i++) {
        seen.push(Atomics.add(shared, 0, 1))
        world.emit(seen)
      }
    }
    const told = new Set<string>()
    explore(model([gathers], { kills: 1 }), { atEnd: ({ emitted }) => void told.add(JSON.stringify(emitted[0])) })
    expect([...told].sort()).toEqual(['[[0],[0,1]]', '[[0]]', '[]'])
  })
})

describe('wait and notify', () => {
  /** A gate: `waits` goes on once `opens` has come by. */
  const waits: Actor = () => {
    while (Atomics.load(shared, 0) === 0) Atomics.wait(shared, 0, 0)
  }
  const opens: Actor = () => {
    Atomics.store(shared, 0, 1)
    Atomics.notify(shared, 0)
  }

  test('a gate opens in every schedule', () => {
    expect(explore(model([waits, waits, opens]), {})).toMatchObject({ failure: undefined, complete: true })
  })

  test('a gate that wakes one of two leaves the other for ever', () => {
    const opensOne: Actor = () => {
      Atomics.store(shared, 0, 1)
      Atomics.notify(shared, 0, 1)
    }
    expect(explore(model([waits, waits, opensOne]), {}).failure?.reason).toBe('deadlock: nobody can move')
    expect(explore(model([waits, waits, opensOne], { timeouts: 'idle' }), {}).failure).toBeUndefined()
  })

  test('a wait inside try and catch is still a stop', () => {
    const catches: Actor = (world) => {
      let outcome: string
      try {
        outcome = Atomics.wait(shared, 0, 0)
      } catch {
        outcome = 'caught'
      }
      Atomics.load(shared, 0)
      world.emit(outcome)
    }
    const ends = new Set<unknown>()
    explore(model([catches, opens]), { atEnd: ({ emitted }) => void ends.add(emitted[0]![0]) })
    expect([...ends].sort()).toEqual(['not-equal', 'ok'])
  })
})

test('a schedule survives being written and read', () => {
  const schedule = 'a12 + b3 a>b A b!2 +2'
  expect(format(parse(schedule))).toBe(schedule)
})
