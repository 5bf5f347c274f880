/**
 * Actors that can be continued from any point without threads: an actor is a deterministic function, so it is run
 * from its start with the results of its earlier shared accesses played back, and stopped by an exception at the
 * first access beyond them. Each run is remembered as a node: the same actor after the same results is the same
 * node, whatever the others did, so it is run once only.
 */
import type { Access, Cell, Op, Result, View } from './access.ts'
import { ATOMIC_OPS, perform, sameAccess } from './access.ts'
import type { Machine } from './machine.ts'

/** What an actor may do besides touching shared memory. */
export interface World {
  /** A reading of the model's clock: a turn of its own. */
  nowMs(): number
  /** Reports a result, in order; what was reported before a kill counts. Must survive JSON. */
  emit(value: unknown): void
  /**
   * States that all that the actor still knows is in `digest` and in what it has emitted: nodes with equal digests
   * are one. Unsound if it is not true.
   */
  checkpoint(digest: string): void
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
  readonly parent: Node | undefined
  readonly result: Result | undefined
  readonly children: Map<Result, Node>
}

/** Thrown through the actor's code. Code that catches it is stopped again at its next access. */
const STOP = new Error('an actor caught the exception that stops it, and went on')

class Tape implements World {
  readonly emitted: unknown[] = []
  pending: Access | undefined
  digest: string | undefined
  readonly #log: readonly { access: Access; result: Result }[]
  readonly #own = new Map<string, View>()
  #cursor = 0

  constructor(log: readonly { access: Access; result: Result }[]) {
    this.#log = log
  }

  take(access: Access): Result {
    if (this.pending !== undefined) throw STOP
    const past = this.#log[this.#cursor]
    if (past === undefined) {
      this.pending = access
      throw STOP
    }
    if (!sameAccess(past.access, access)) throw new Error(`an actor is not deterministic: ${past.access.op}, then ${access.op}`)
    this.#cursor++
    return past.result
  }

  /** An access to bytes of which each actor has its own copy, zero at its start. */
  touchOwn(access: Access, view: View): Result {
    const key = `${view.byteOffset + access.index * view.BYTES_PER_ELEMENT}`
    const cell = this.#own.get(key) ?? (view instanceof BigInt64Array ? new BigInt64Array(1) : new Int32Array(1))
    this.#own.set(key, cell)
    return perform(cell, { ...access, index: 0 })
  }

  nowMs(): number {
    return this.take({ op: 'clock', view: -1, index: 0, args: [] }) as number
  }

  emit(value: unknown): void {
    if (this.pending === undefined) this.emitted.push(value)
  }

  checkpoint(digest: string): void {
    if (this.pending === undefined) this.digest = this.#cursor === this.#log.length ? digest : undefined
  }
}

let playing: Tape | undefined

/** All actors of one model and the views they share. */
export class Cast {
  readonly #machine: Machine
  readonly #actors: readonly Actor[]
  readonly #views: readonly View[]
  readonly #numbers: Map<unknown, number>
  readonly #known = new Map<string, Node>()
  #nodes = 0

  /** `views` are real views; `shared` are their stand-ins, as `standIn` makes them. */
  constructor(machine: Machine, actors: readonly Actor[], views: readonly View[], shared: readonly View[]) {
    this.#machine = machine
    this.#actors = actors
    this.#views = views
    this.#numbers = new Map(shared.map((view, i) => [view, i]))
  }

  get nodes(): number {
    return this.#nodes
  }

  view(number: number): View {
    return this.#views[number]!
  }

  start(actor: number): Node {
    return this.#run(actor, undefined, undefined)
  }

  /** The node after `node` whose pending access gave `result`. */
  after(actor: number, node: Node, result: Result): Node {
    let next = node.children.get(result)
    if (next === undefined) node.children.set(result, (next = this.#run(actor, node, result)))
    return next
  }

  #run(actor: number, parent: Node | undefined, result: Result | undefined): Node {
    const log: { access: Access; result: Result }[] = []
    for (let node = parent, given = result; node !== undefined; given = node.result, node = node.parent) {
      log.push({ access: node.pending!, result: given! })
    }
    const tape = new Tape(log.reverse())
    let thrown: unknown
    const restore = this.#replaceAtomics()
    playing = tape
    try {
      this.#actors[actor]!(tape)
    } catch (error) {
      if (tape.pending === undefined) thrown = error
    } finally {
      playing = undefined
      restore()
    }
    const ended = tape.pending === undefined
    const digest = ended ? `end ${String(thrown)}` : tape.digest
    const key = digest === undefined ? undefined : `${actor} ${tape.emitted.length} ${JSON.stringify(tape.emitted)} ${digest}`
    const known = key === undefined ? undefined : this.#known.get(key)
    if (known !== undefined) return known
    const { pending, emitted } = tape
    const node: Node = { id: this.#nodes++, depth: log.length, pending, emitted, thrown, parent, result, children: new Map() }
    if (key !== undefined) this.#known.set(key, node)
    return node
  }

  /** An access by the actor that runs now: a turn if it is to shared memory, else done at once. */
  #access(op: Op, number: number, index: number, args: readonly Cell[]): Result {
    const access: Access = { op, view: number, index, args }
    const view = this.#views[number]!
    const place = this.#machine.place(view, index)
    if (place === 'shared') return playing!.take(access)
    if (place === 'own') return playing!.touchOwn(access, view)
    if (op !== 'load' && op !== 'read') throw new Error(`an actor writes to view${number}[${index}], which is said to be constant`)
    return perform(view, access)
  }

  #replaceAtomics(): () => void {
    const table = Atomics as unknown as Record<string, (view: View, index: number, ...args: Cell[]) => unknown>
    const before = ATOMIC_OPS.map((op) => table[op]!)
    ATOMIC_OPS.forEach((op, i) => {
      table[op] = (view, index, ...args) => {
        const number = this.#numbers.get(view)
        return number === undefined ? before[i]!(view, index, ...args) : this.#access(op, number, index, args)
      }
    })
    Cast.#plain = (op, view, index, args) => this.#access(op, this.#numbers.get(view)!, index, args)
    return () => ATOMIC_OPS.forEach((op, i) => (table[op] = before[i]!))
  }

  static #plain: (op: Op, view: unknown, index: number, args: readonly Cell[]) => Result

  /** A stand-in for a view, whose plain reads and writes are seen too. */
  static standIn<V extends View>(view: V): V {
    const proxy: V = new Proxy(view, {
      get(target, property) {
        const index = typeof property === 'string' ? Number(property) : NaN
        if (Number.isInteger(index)) return playing === undefined ? target[index] : Cast.#plain('read', proxy, index, [])
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
      set(target, property, value: Cell) {
        const index = Number(property as string)
        if (playing === undefined) target[index] = value as never
        else Cast.#plain('write', proxy, index, [value])
        return true
      },
    })
    return proxy
  }
}
