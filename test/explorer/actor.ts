/**
 * Actors that can be continued from any point without threads: an actor is a deterministic function, so it is run
 * from its start with the results of its earlier shared accesses played back, and stopped by an exception at an
 * access beyond them. Where it stands at each access is remembered as a node: the same actor after the same results is
 * the same node, whatever the others did. A run goes on for a while as if nobody else moved, which is what
 * a walk asks for next: so most nodes cost one access and not a run of their own.
 */
import type { Access, Cell, Op, Result, Type, View } from './access.ts'
import { ATOMIC_OPS, perform, sameAccess, TYPES } from './access.ts'
import type { Machine } from './machine.ts'

/** What an actor may do besides touching shared memory. */
export interface World {
  /** A reading of the model's clock: a turn of its own. */
  nowMs(): number
  /** Reports a copy of a result, in order; what was reported before a kill counts. Must survive JSON. */
  emit(value: unknown): void
  /**
   * States that all that the actor still knows is in `digest` and in what it has emitted: nodes with equal digests
   * are one, and a run may start here: an actor that does not ask `from` is refused. Unsound if it is not true.
   */
  checkpoint(digest: string): void
  /** The checkpoint at which this run starts, and how many values the actor had emitted by then; undefined at its beginning. */
  readonly from: { readonly digest: string; readonly emitted: number } | undefined
}

export type Actor = (world: World) => void

export interface Node {
  /** Unique over all actors. */
  readonly id: number
  readonly depth: number
  /** The access that comes next; undefined when the actor has returned or thrown. */
  readonly pending: Access | undefined
  readonly emitted: readonly unknown[]
  /** What the actor threw, if it did. */
  readonly thrown: unknown
  /** Of a checkpoint that no access came after. */
  readonly digest: string | undefined
  readonly parent: Node | undefined
  readonly result: Result | undefined
  readonly children: Map<Result, Node>
}

/** Thrown through the actor's code. Code that catches it is stopped again at its next access. */
const STOP = new Error('an actor caught the exception that stops it, and went on')

/** How many accesses a run goes on for beyond those played back; an actor may wait for ever for another. */
const AHEAD = 32

class Tape implements World {
  emitted: readonly unknown[]
  stopped = false
  digest: string | undefined
  readonly #log: readonly { access: Access; result: Result }[]
  readonly #beyond: (access: Access) => Result | undefined
  readonly #own = new Map<number, View>()
  readonly #from: World['from']
  #asked = false
  #cursor = 0

  /** `beyond` gives the result of an access that is not in the log, or undefined where the run is to stop. */
  constructor(log: readonly { access: Access; result: Result }[], start: Node | undefined, beyond: (access: Access) => Result | undefined) {
    this.#log = log
    this.#beyond = beyond
    this.emitted = start?.emitted ?? []
    this.#from = start?.digest === undefined ? undefined : { digest: start.digest, emitted: start.emitted.length }
  }

  get from(): World['from'] {
    this.#asked = true
    return this.#from
  }

  take(access: Access): Result {
    if (this.stopped) throw STOP
    if (this.#from !== undefined && !this.#asked) throw new Error('an actor that has checkpoints must begin where `from` says')
    const past = this.#log[this.#cursor]
    if (past !== undefined) {
      if (!sameAccess(past.access, access)) throw new Error(`an actor is not deterministic: ${past.access.op}, then ${access.op}`)
      this.#cursor++
      return past.result
    }
    const result = this.#beyond(access)
    this.digest = undefined
    if (result !== undefined) return result
    this.stopped = true
    throw STOP
  }

  /** An access to bytes of which each actor has its own copy, zero at its start. */
  touchOwn(access: Access): Result {
    const key = access.type === 'i32' ? access.index : 2 * access.index
    const cell = this.#own.get(key) ?? new TYPES[access.type](1)
    this.#own.set(key, cell)
    return perform(cell, { ...access, index: 0 })
  }

  nowMs(): number {
    return this.take({ op: 'clock', type: 'f64', index: 0, args: [] }) as number
  }

  emit(value: unknown): void {
    if (this.stopped) return
    this.emitted = [...this.emitted, structuredClone(value)]
    this.digest = undefined
  }

  checkpoint(digest: string): void {
    if (!this.stopped && this.#cursor === this.#log.length) this.digest = digest
  }
}

let playing: Tape | undefined

/** A view for which a stand-in is made, and where it begins in its buffer, in elements. */
interface Real {
  readonly view: View
  readonly type: Type
  readonly first: number
}

const real = new WeakMap<object, Real>()

type Touch = (op: Op, target: Real, index: number, args: readonly Cell[]) => Result

/** What is done at an access to a stand-in: what it says, unless an actor runs. */
const untouched: Touch = (op, { view, type }, index, args) => perform(view, { op, type, index, args })
let touch = untouched

/** Calls `run` while `Atomics` sees accesses to stand-ins. */
export function intercepting<T>(run: () => T): T {
  const table = Atomics as unknown as Record<string, (view: View, index: number, ...args: Cell[]) => unknown>
  const before = ATOMIC_OPS.map((op) => table[op]!)
  ATOMIC_OPS.forEach((op, i) => {
    table[op] = (view, index, ...args) => {
      const target = real.get(view)
      return target === undefined ? before[i]!(view, index, ...args) : touch(op, target, index, args)
    }
  })
  try {
    return run()
  } finally {
    ATOMIC_OPS.forEach((op, i) => (table[op] = before[i]!))
  }
}

/** All actors of one model. They are run within `intercepting`. */
export class Cast {
  readonly #machine: Machine
  readonly #actors: readonly Actor[]
  readonly #known = new Map<string, Node>()
  #nodes = 0

  constructor(machine: Machine, actors: readonly Actor[]) {
    this.#machine = machine
    this.#actors = actors
  }

  get nodes(): number {
    return this.#nodes
  }

  start(actor: number, image: number, nowMs: number): Node {
    const first = this.#run(actor, undefined, undefined, image, nowMs)
    // Once more, as far as it went: an actor that depends on anything else may never be run again.
    let last = first
    for (let next: Node | undefined = first; next !== undefined; [next] = next.children.values()) last = next
    const thrown = last === first ? undefined : this.#play(actor, new Tape(...this.#past(last.parent, last.result), () => undefined))
    return thrown === undefined || last.thrown !== undefined ? first : { ...first, pending: undefined, thrown, children: new Map() }
  }

  /** The node after `node` whose pending access gave `result`, by when the memory is `image` and the time `nowMs`. */
  after(actor: number, node: Node, result: Result, image: number, nowMs: number): Node {
    return node.children.get(result) ?? this.#run(actor, node, result, image, nowMs)
  }

  #run(actor: number, parent: Node | undefined, result: Result | undefined, image: number, nowMs: number): Node {
    let first: Node | undefined
    let left = AHEAD
    const arrive = (pending: Access | undefined, thrown?: unknown): { node: Node; known: boolean } => {
      const { emitted, digest } = tape
      const mark = pending === undefined ? `end ${String(thrown)}` : digest
      const key = mark === undefined ? undefined : `${actor} ${emitted.length} ${JSON.stringify(emitted)} ${mark}`
      const before = key === undefined ? undefined : this.#known.get(key)
      const depth = parent === undefined ? 0 : parent.depth + 1
      const node = before ?? { id: this.#nodes++, depth, pending, emitted, thrown, digest, parent, result, children: new Map() }
      if (key !== undefined) this.#known.set(key, node)
      if (parent !== undefined) parent.children.set(result!, node)
      first ??= node
      return { node, known: before !== undefined }
    }
    const tape = new Tape(...this.#past(parent, result), (access) => {
      const { node, known } = arrive(access)
      if (known || left-- === 0 || access.op === 'wait' || access.op === 'notify') return undefined
      parent = node
      if (access.op === 'clock') return (result = nowMs)
      const done = this.#machine.apply(image, access)
      image = done.image
      return (result = done.result)
    })
    const thrown = this.#play(actor, tape)
    if (!tape.stopped) arrive(undefined, thrown)
    return first!
  }

  /** The accesses that a run plays back to go on from `node`, whose pending access gave `result`; and the checkpoint before them. */
  #past(node: Node | undefined, result: Result | undefined): [log: { access: Access; result: Result }[], start: Node | undefined] {
    const log: { access: Access; result: Result }[] = []
    let start = node
    for (let given = result; start !== undefined; given = start.result, start = start.parent) {
      log.push({ access: start.pending!, result: given! })
      if (start.digest !== undefined) break
    }
    return [log.reverse(), start]
  }

  /** Runs an actor to its end or stop; returns what it threw by itself. */
  #play(actor: number, tape: Tape): unknown {
    playing = tape
    touch = this.#access
    try {
      this.#actors[actor]!(tape)
    } catch (error) {
      if (!tape.stopped) return error
    } finally {
      playing = undefined
      touch = untouched
    }
    return undefined
  }

  /** An access by the actor that runs now: a turn if it is to shared memory, else done at once. */
  readonly #access: Touch = (op, { view, type, first }, at, args) => {
    const access: Access = { op, type, index: first + at, args }
    const place = this.#machine.place(type, access.index)
    if (place === 'shared') return playing!.take(access)
    if (place === 'own') return playing!.touchOwn(access)
    if (op !== 'load' && op !== 'read') throw new Error(`an actor writes to ${type}[${access.index}], which is said to be constant`)
    return perform(view, { ...access, index: at })
  }

  /** A stand-in for a view of the model's buffer: accesses to it are seen, plain reads and writes too. */
  static standIn<V extends View>(view: V): V {
    const type: Type = view instanceof BigInt64Array ? 'i64' : view instanceof Int32Array ? 'i32' : 'f64'
    const it: Real = { view, type, first: view.byteOffset / view.BYTES_PER_ELEMENT }
    const proxy: V = new Proxy(view, {
      get(target, property) {
        const index = typeof property === 'string' ? Number(property) : NaN
        if (Number.isInteger(index)) return touch('read', it, index, [])
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
      set(_, property, value: Cell) {
        touch('write', it, Number(property as string), [value])
        return true
      },
    })
    real.set(proxy, it)
    return proxy
  }

  /** What `make` makes, whose views of `buffer` are all stand-ins, whoever asked for them. */
  static over<T>(buffer: SharedArrayBuffer, make: () => T): T {
    const table = globalThis as unknown as Record<string, new (...args: unknown[]) => View>
    const types = Object.values(TYPES) as unknown as (new (...args: unknown[]) => View)[]
    for (const type of types) {
      table[type.name] = new Proxy(type, {
        construct(target, args: unknown[]) {
          const view = new target(...args)
          return args[0] === buffer ? Cast.standIn(view) : view
        },
      })
    }
    try {
      return intercepting(make)
    } finally {
      for (const type of types) table[type.name] = type
    }
  }
}
