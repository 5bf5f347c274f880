/**
 * Histories and their explanation: some order of the calls, none before one that had returned when it was made,
 * in which one thread after another would have been answered the same (Herlihy and Wing, 1990; searched as Wing
 * and Gong, 1993, do, with the states already tried left out). Keys are independent, so each is explained alone.
 */
import type { Bucket, Machine } from './sequential.ts'

export interface Event {
  readonly thread: number
  readonly verb: 'allow' | 'consume' | 'peek' | 'refund' | 'reset' | 'tick' | 'start'
  readonly key: string
  /** Of a tick, the milliseconds. */
  readonly cost: number
  readonly answer?: boolean | number | { readonly allowed: boolean; readonly remaining: number } | undefined
  /** The shared counter before and after the call. */
  readonly invoked: number
  readonly returned: number
  /** What the clock gave the call. */
  readonly readings: readonly number[]
  /** The clock after the call. */
  readonly lastMs: number
}

/** What is wrong with a history, or undefined: where it cannot be explained, the key. */
export function fault(machine: Machine, events: readonly Event[]): string | undefined {
  const late = misread(events)
  if (late !== undefined) return `a reading that the clock never gave: ${JSON.stringify(late)}`
  const keys = new Set(events.filter(({ key }) => key !== '').map(({ key }) => key))
  for (const key of keys) {
    const calls = events.filter((event) => event.key === key)
    if (!explained(machine, calls)) return `${key} has no order of its calls:\n${calls.map((call) => JSON.stringify(call)).join('\n')}`
  }
  return undefined
}

/** A call whose reading is not one of the clock's between its invocation and its return, ticks being calls too. */
function misread(events: readonly Event[]): Event | undefined {
  const startMs = events.find(({ verb }) => verb === 'start')?.lastMs ?? 0
  const ticks = events.filter(({ verb }) => verb === 'tick')
  const after = (counted: (tick: Event) => boolean) => ticks.filter(counted).reduce((ms, { cost }) => ms + cost, startMs)
  return events.find((event) => {
    const least = after((tick) => tick.returned < event.invoked)
    const most = after((tick) => tick.invoked < event.returned)
    return event.readings.some((ms) => ms < least || ms > most)
  })
}

/**
 * The times at which a call may decide. A spend does at a reading it made. A peek or a refund that found no bucket,
 * since it was full and given away meanwhile, made no later reading, but answers as of some moment before its return.
 */
function times({ verb, readings, lastMs }: Event): readonly number[] {
  if (verb === 'allow' || verb === 'consume') return [...new Set(readings)]
  const first = readings[0] ?? lastMs
  return Array.from({ length: lastMs - first + 1 }, (_, ms) => first + ms)
}

/** The bucket after the call at `nowMs`, where that gives the answer seen; else undefined. */
function next(machine: Machine, bucket: Bucket, { verb, cost, answer, lastMs }: Event, nowMs: number): Bucket | undefined {
  if (verb === 'refund') return machine.refund(bucket, nowMs, cost)
  if (verb === 'reset') return machine.refund(bucket, nowMs, Number.MAX_SAFE_INTEGER)
  if (answer === false && machine.refusesLate && nowMs < lastMs) return bucket
  const spent = machine.spend(bucket, nowMs, cost)
  const after = verb === 'peek' ? bucket : (spent ?? bucket)
  if (typeof answer !== 'object') return answer === (spent !== undefined) ? after : undefined
  return answer.allowed === (spent !== undefined) && answer.remaining === machine.remaining(after, nowMs) ? after : undefined
}

export function explained(machine: Machine, calls: readonly Event[]): boolean {
  const tried = new Set<string>()
  function search(bucket: Bucket, done: number): boolean {
    if (done === 2 ** calls.length - 1) return true
    const state = `${done} ${bucket.join()}`
    if (tried.has(state)) return false
    tried.add(state)
    const waiting = calls.map((_, i) => i).filter((i) => Math.floor(done / 2 ** i) % 2 === 0)
    const soonest = Math.min(...waiting.map((i) => calls[i]!.returned))
    return waiting.some((i) => {
      const call = calls[i]!
      if (call.invoked > soonest) return false
      return times(call).some((nowMs) => {
        const after = next(machine, bucket, call, nowMs)
        return after !== undefined && search(after, done + 2 ** i)
      })
    })
  }
  return search(machine.full, 0)
}
