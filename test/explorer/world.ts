/** The states of a model and the moves between them. */
import type { Result } from './access.ts'
import { describeAccess } from './access.ts'
import type { Actor, Node } from './actor.ts'
import { Cast } from './actor.ts'
import { Machine } from './machine.ts'
import type { ByteRange } from './machine.ts'
import { Numbering } from './numbering.ts'
import type { Move } from './schedule.ts'

export interface Model {
  readonly buffer: SharedArrayBuffer
  /** Bytes that the actors share, and bytes of which each has its own copy; the rest is constant. */
  readonly shared: readonly ByteRange[]
  readonly own?: readonly ByteRange[]
  readonly actors: readonly Actor[]
  /** The clock's readings, one after another. */
  readonly times?: readonly number[]
  /** How many actors may be stopped for ever, at any step. */
  readonly kills?: number
  /** Which actors may be; all by default. */
  readonly mortal?: readonly number[]
  /** When a wait may time out: never, when nobody else can move, or at any time. */
  readonly timeouts?: 'never' | 'idle' | 'any'
  /** Plain reads and writes: turns of their own, or done together with the atomic access before them. */
  readonly plain?: 'turns' | 'attached'
  /** How often an actor that could go on may be put aside for another; no bound by default. */
  readonly preemptions?: number
}

export const RUNS = 0
export const WAITS = 1
export const DEAD = 2

export interface State {
  readonly image: number
  readonly nodes: readonly Node[]
  readonly status: readonly number[]
  readonly tick: number
  readonly kills: number
  readonly preemptions: number
  readonly last: number
}

export class Scene {
  readonly machine: Machine
  readonly cast: Cast
  readonly times: readonly number[]
  readonly #model: Model
  readonly #initial: number
  readonly #everyone: readonly number[]
  readonly #verdicts: (string | undefined)[][] = []
  readonly #states: Numbering
  readonly #vector: Int32Array

  constructor(model: Model) {
    this.#model = model
    this.machine = new Machine(model.buffer, model.shared, model.own)
    this.cast = new Cast(this.machine, model.actors)
    this.times = model.times ?? [0]
    this.#everyone = model.actors.map((_, actor) => actor)
    this.#initial = this.machine.capture()
    this.#vector = new Int32Array(4 + model.actors.length)
    this.#states = new Numbering(this.#vector.length)
  }

  start(): State {
    const { actors, kills = 0, preemptions = Infinity } = this.#model
    const state = {
      image: this.#initial,
      nodes: actors.map((_, actor) => this.cast.start(actor, this.#initial, this.times[0]!)),
      status: actors.map(() => RUNS),
      tick: 0,
      kills,
      preemptions,
      last: -1,
    }
    return this.#attach(state, actors.map((_, actor) => actor))
  }

  /** The number of a state: `states` as it was, if it is new. */
  number({ image, nodes, status, tick, kills, preemptions, last }: State): number {
    const vector = this.#vector
    vector[0] = image
    vector[1] = tick
    vector[2] = kills
    // Without a bound on them it does not matter who moved last.
    vector[3] = preemptions === Infinity ? 0 : preemptions * (nodes.length + 1) + last + 1
    for (let actor = 0; actor < nodes.length; actor++) vector[4 + actor] = nodes[actor]!.id * 3 + status[actor]!
    return this.#states.of(vector)
  }

  /** How many states were numbered. */
  get states(): number {
    return this.#states.size
  }

  /** Moves that can be made; the actor that moved last comes first, so that a first fault has few switches. */
  moves(state: State): Move[] {
    const moves: Move[] = []
    const { nodes, status, last } = state
    const order = last < 0 ? this.#everyone : [last, ...this.#everyone.filter((actor) => actor !== last)]
    const canGoOn = last >= 0 && status[last] === RUNS && nodes[last]!.pending !== undefined
    for (const actor of order) {
      if (status[actor] !== RUNS || nodes[actor]!.pending === undefined) continue
      if (canGoOn && actor !== last && state.preemptions <= 0) continue
      moves.push(...this.#steps(state, actor))
    }
    const { timeouts = 'never' } = this.#model
    if (timeouts === 'any' || (timeouts === 'idle' && moves.length === 0)) {
      for (const actor of order) if (status[actor] === WAITS) moves.push({ kind: 'timeout', actor })
    }
    if (!this.isOver(state)) {
      if (state.tick + 1 < this.times.length) moves.push({ kind: 'tick' })
      if (state.kills > 0) {
        for (const actor of this.#model.mortal ?? order) if (status[actor] !== DEAD && nodes[actor]!.pending !== undefined) moves.push({ kind: 'kill', actor })
      }
    }
    return moves
  }

  /** What `judge` says of the state's memory and time. One `judge` a scene. */
  memoized({ image, tick }: State, judge: (nowMs: number) => string | undefined): string | undefined {
    const verdicts = (this.#verdicts[tick] ??= [])
    if (!(image in verdicts)) {
      this.machine.show(image)
      verdicts[image] = judge(this.times[tick]!)
    }
    return verdicts[image]
  }

  /** True when every actor has ended or is dead. */
  isOver({ nodes, status }: State): boolean {
    return nodes.every((node, actor) => status[actor] === DEAD || node.pending === undefined)
  }

  /** True when nobody will ever move again, though somebody has not ended. */
  isStuck(state: State): boolean {
    const someRuns = state.nodes.some((node, actor) => state.status[actor] === RUNS && node.pending !== undefined)
    return !someRuns && !this.isOver(state) && this.moves(state).every(({ kind }) => kind === 'tick' || kind === 'kill')
  }

  #steps(state: State, actor: number): Move[] {
    const { op, type, index, args } = state.nodes[actor]!.pending!
    if (op !== 'notify') return [{ kind: 'step', actor, wakes: [] }]
    const waiting = state.nodes.flatMap((node, other) => {
      const { pending } = node
      return state.status[other] === WAITS && pending?.type === type && pending.index === index ? [other] : []
    })
    const most = args[0] === undefined ? Infinity : Number(args[0])
    if (waiting.length <= most) return [{ kind: 'step', actor, wakes: waiting }]
    // Which of them: any, though an engine wakes them in order.
    if (most !== 1) throw new Error('a notify of more than one, but not all, is not modelled')
    return waiting.map((other) => ({ kind: 'step', actor, wakes: [other] }))
  }

  next(state: State, move: Move): State {
    if (move.kind === 'tick') return { ...state, tick: state.tick + 1 }
    const { actor } = move
    const status = state.status.slice()
    const nodes = state.nodes.slice()
    if (move.kind === 'kill') {
      status[actor] = DEAD
      return { ...state, status, kills: state.kills - 1 }
    }
    const { last } = state
    const preempts = last >= 0 && last !== actor && state.status[last] === RUNS && nodes[last]!.pending !== undefined
    const preemptions = state.preemptions - (preempts ? 1 : 0)
    const node = nodes[actor]!
    const access = node.pending!
    let { image } = state
    const touched = [actor]
    const nowMs = this.times[state.tick]!
    if (move.kind === 'timeout') {
      status[actor] = RUNS
      nodes[actor] = this.cast.after(actor, node, 'timed-out', image, nowMs)
    } else if (access.op === 'notify') {
      for (const other of move.wakes) {
        status[other] = RUNS
        nodes[other] = this.cast.after(other, nodes[other]!, 'ok', image, nowMs)
        touched.push(other)
      }
      nodes[actor] = this.cast.after(actor, node, move.wakes.length, image, nowMs)
    } else if (access.op === 'wait') {
      const { result } = this.machine.apply(image, { ...access, op: 'load', args: [] })
      if (result === access.args[0]) status[actor] = WAITS
      else nodes[actor] = this.cast.after(actor, node, 'not-equal', image, nowMs)
    } else if (access.op === 'clock') {
      nodes[actor] = this.cast.after(actor, node, nowMs, image, nowMs)
    } else {
      const done = this.machine.apply(image, access)
      image = done.image
      nodes[actor] = this.cast.after(actor, node, done.result, image, nowMs)
    }
    return this.#attach({ image, nodes, status, tick: state.tick, kills: state.kills, preemptions, last: actor }, touched)
  }

  /** Carries out the plain accesses that come next for some actors, unless they are turns. */
  #attach(state: State, actors: readonly number[]): State {
    const isPlain = ({ pending }: Node): boolean => pending?.op === 'read' || pending?.op === 'write'
    if (this.#model.plain === 'turns' || !actors.some((actor) => isPlain(state.nodes[actor]!))) return state
    const nodes = state.nodes.slice()
    let { image } = state
    for (const actor of actors) {
      for (let node = nodes[actor]!; isPlain(node); nodes[actor] = node) {
        const done = this.machine.apply(image, node.pending!)
        image = done.image
        node = this.cast.after(actor, node, done.result, image, this.times[state.tick]!)
      }
    }
    return { ...state, nodes, image }
  }

  /** One line about a move from `state` to `next`. */
  line(state: State, move: Move, next: State): string {
    if (move.kind === 'tick') return `+ clock ${this.times[next.tick]}`
    const name = String.fromCharCode(97 + move.actor)
    if (move.kind !== 'step') return `${name} ${move.kind}`
    const access = state.nodes[move.actor]!.pending!
    const resultOf = (): Result => {
      if (access.op === 'wait') return 'not-equal'
      if (access.op === 'notify') return move.wakes.length
      return access.op === 'clock' ? this.times[state.tick]! : this.machine.apply(state.image, access).result
    }
    const line = next.status[move.actor] === WAITS ? `${name} waits` : `${name} ${describeAccess(access, resultOf())}`
    const told = next.nodes[move.actor]!.emitted.slice(state.nodes[move.actor]!.emitted.length)
    return line + told.map((value) => `   = ${JSON.stringify(value)}`).join('')
  }
}
