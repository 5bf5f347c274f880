/** One access to shared memory, as an actor asks for it and as the explorer carries it out. */

export type View = Int32Array | BigInt64Array | Float64Array
export type Cell = number | bigint

/** The element types under which memory may be seen; an access names one, and an index from the buffer's start. */
export const TYPES = { i32: Int32Array, i64: BigInt64Array, f64: Float64Array } as const
export type Type = keyof typeof TYPES

/** `read` and `write` are the plain accesses `view[i]` and `view[i] = x`; `clock` is a reading of the time. */
export type Op = 'load' | 'store' | 'add' | 'sub' | 'and' | 'or' | 'xor' | 'exchange' | 'compareExchange' | 'wait' | 'notify' | 'read' | 'write' | 'clock'

export interface Access {
  readonly op: Op
  readonly type: Type
  readonly index: number
  /** The arguments after the index. */
  readonly args: readonly Cell[]
}

/** What an access gives back to the actor. */
export type Result = Cell | 'ok' | 'not-equal' | 'timed-out'

/** The operations of `Atomics` that are intercepted. */
export const ATOMIC_OPS = ['load', 'store', 'add', 'sub', 'and', 'or', 'xor', 'exchange', 'compareExchange', 'wait', 'notify'] as const

type Operation = (view: unknown, index: number, ...args: Cell[]) => Cell

/** The real operations, held before anything is replaced. */
const real = Object.fromEntries(ATOMIC_OPS.map((op) => [op, Atomics[op]])) as unknown as Record<string, Operation>

/** Carries out any access but `wait`, `notify` and `clock` on real memory. */
export function perform(view: View, { op, index, args }: Access): Cell {
  if (op === 'read') return view[index]!
  if (op === 'write') return (view[index] = args[0]! as never)
  return real[op]!(view, index, ...args)
}

export function sameAccess(one: Access, other: Access): boolean {
  return one.op === other.op && one.type === other.type && one.index === other.index && one.args.every((arg, i) => arg === other.args[i])
}

/** A line of a printed trace. */
export function describeAccess({ op, type, index, args }: Access, result: Result | undefined): string {
  const shown = (value: Result | undefined): string => (typeof value === 'bigint' ? `0x${BigInt.asUintN(64, value).toString(16)}` : String(value))
  if (op === 'clock') return `clock -> ${shown(result)}`
  return `${op} ${type}[${[index, ...args.map(shown)].join(', ')}] -> ${shown(result)}`
}
