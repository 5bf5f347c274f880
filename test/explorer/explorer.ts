/**
 * Walks every schedule of a model, depth first, each state once.
 *
 * A state is the shared memory, the clock, and of each actor the results it has had from its shared accesses.
 * What it sees: every interleaving of the actors' `Atomics` calls (and, if asked, of plain reads and writes), a
 * stop for ever and a tick of the clock between any two of them, time-outs, and any choice among waiters. What it
 * cannot see: weak memory (plain accesses that arrive out of order or late), tearing, and actors that depend on
 * anything but their shared accesses and the clock.
 */
import { intercepting } from './actor.ts'
import type { Model, State } from './world.ts'
import { DEAD, Scene } from './world.ts'
import type { Move } from './schedule.ts'
import { format, parse } from './schedule.ts'

/** A state as a check sees it. The model's buffer holds its memory; a check that writes there must say so. */
export interface View {
  /** What each actor has emitted. */
  readonly emitted: readonly (readonly unknown[])[]
  readonly dead: readonly boolean[]
  readonly nowMs: number
  /** How often the clock has ticked. */
  readonly tick: number
  /** A number that equal contents of the memory share. */
  readonly memory: number
  /** Puts the state's memory back into the buffer, after a check has written there. */
  restore(): void
}

export interface Checks {
  /** Says what is wrong with a state in which all have ended or are dead. */
  atEnd?(view: View): string | undefined
  /** Says what is wrong with the memory of any state at a time; writes nothing. Asked once for equal memory and time. */
  always?(nowMs: number): string | undefined
}

export interface Bounds {
  /** More states than this: the walk stops, and `complete` is false. */
  readonly states?: number
  /** An actor that has taken this many accesses is taken to go round for ever. */
  readonly steps?: number
}

export interface Failure {
  readonly reason: string
  /** For `replay`. */
  readonly schedule: string
}

export interface Report {
  readonly states: number
  /** Schedules that these states stand for, all that came before a failure; exact up to 2^53. */
  readonly schedules: number
  /** Different ends: memory, clock and what was emitted. */
  readonly ends: number
  /** Different pasts of an actor that were looked into: the results that its accesses have had. */
  readonly pasts: number
  readonly complete: boolean
  readonly failure: Failure | undefined
}

class Found extends Error {}

export function explore(model: Model, checks: Checks, { states = Infinity, steps = 400 }: Bounds = {}): Report {
  const scene = new Scene(model)
  /** By the number of a state. */
  const schedulesFrom: number[] = []
  const path: Move[] = []
  let ends = 0
  let schedules = 0
  let complete = true
  let failure: Failure | undefined

  function fail(reason: string): never {
    failure = { reason, schedule: format(path) }
    throw new Found(reason)
  }

  function walk(state: State): number {
    const before = scene.states
    const number = scene.number(state)
    if (number < before) {
      const known = schedulesFrom[number]!
      schedules += known
      return known
    }
    schedulesFrom[number] = 0
    if (number >= states) {
      complete = false
      return 0
    }
    const wrong = faultOf(scene, state, checks, steps)
    if (wrong !== undefined) fail(wrong)
    let from = 0
    if (scene.isOver(state)) {
      ends++
      from = 1
      schedules++
    } else {
      for (const move of scene.moves(state)) {
        path.push(move)
        from += walk(scene.next(state, move))
        path.pop()
      }
    }
    schedulesFrom[number] = from
    return from
  }

  try {
    intercepting(() => walk(scene.start()))
  } catch (error) {
    if (!(error instanceof Found)) throw error
    complete = false
  } finally {
    scene.machine.show(0, true)
  }
  return { states: Math.min(scene.states, states), schedules, ends, pasts: scene.cast.nodes, complete, failure }
}

function viewOf(scene: Scene, state: State): View {
  scene.machine.show(state.image)
  return {
    emitted: state.nodes.map(({ emitted }) => emitted),
    dead: state.status.map((status) => status === DEAD),
    nowMs: scene.times[state.tick]!,
    tick: state.tick,
    memory: state.image,
    restore: () => scene.machine.show(state.image, true),
  }
}

function faultOf(scene: Scene, state: State, checks: Checks, steps: number): string | undefined {
  for (const { thrown, depth } of state.nodes) {
    if (thrown !== undefined) return `an actor threw ${String(thrown)}`
    if (depth > steps) return `livelock: an actor has taken ${depth} steps`
  }
  const wrong = scene.memoized(state, (nowMs) => checks.always?.(nowMs))
  if (wrong !== undefined) return wrong
  if (scene.isOver(state)) return checks.atEnd?.(viewOf(scene, state))
  return scene.isStuck(state) ? 'deadlock: nobody can move' : undefined
}

/** Makes the moves of a schedule; returns one line a move, and the fault of the last state. */
export function replay(model: Model, checks: Checks, schedule: string, steps = 400): { trace: string[]; reason: string | undefined } {
  const scene = new Scene(model)
  const trace: string[] = []
  const reason = intercepting(() => {
    let state = scene.start()
    for (const move of parse(schedule)) {
      const next = scene.next(state, move)
      trace.push(scene.line(state, move, next))
      state = next
    }
    return faultOf(scene, state, checks, steps)
  })
  scene.machine.show(0, true)
  return { trace, reason }
}
