/**
 * What a single thread could have answered: a slow, obvious token bucket, and a search for an order of the calls
 * in which it gives the answers seen.
 */

export interface Answer {
  readonly key: string
  /** `full`: no slot could be had, and nothing was decided. */
  readonly answer: boolean | 'full'
  /** The clock readings that the call made: it decides at one of them. */
  readonly readings: readonly number[]
}

export interface Thread {
  readonly answers: readonly Answer[]
  /** The key of the call that a kill cut short: it may have been charged or not. */
  readonly cutShort: string | undefined
}

export interface Bucket {
  readonly burst: number
  /** Milliseconds that one token takes. */
  readonly emissionMs: number
}

/** By key, the time at which its bucket is full. */
type Times = Readonly<Record<string, number>>

function spend({ burst, emissionMs }: Bucket, times: Times, key: string, now: number): Times | undefined {
  const next = Math.max(times[key] ?? -Infinity, now) + emissionMs
  return next - now > burst * emissionMs ? undefined : { ...times, [key]: next }
}

/** Tokens that could still be spent from each key at `now`, as `drained` counts them. */
function left(bucket: Bucket, times: Times, key: string, now: number): number {
  let count = 0
  for (let at: Times | undefined = times; (at = spend(bucket, at, key, now)) !== undefined; ) count++
  return count
}

/**
 * True when some order of the threads' calls, each deciding at a reading it made, gives these answers and leaves
 * `drained` tokens of each key at the last reading of `clock`, which holds all those there have been.
 */
export function isSequential(bucket: Bucket, start: Times, threads: readonly Thread[], drained: Readonly<Record<string, number>>, clock: readonly number[]): boolean {
  const now = clock.at(-1)!
  const seen = new Set<string>()
  function search(times: Times, done: readonly number[]): boolean {
    const key = JSON.stringify([times, done])
    if (seen.has(key)) return false
    seen.add(key)
    const all = threads.every(({ answers }, t) => done[t]! >= answers.length)
    if (all && Object.entries(drained).every(([name, count]) => left(bucket, times, name, now) === count)) return true
    return threads.some(({ answers, cutShort }, t) => {
      const after = done.map((count, other) => (other === t ? count + 1 : count))
      const call = answers[done[t]!]
      if (call === undefined) {
        // The dead thread's last call, at any reading that it may have made.
        if (cutShort === undefined || done[t] !== answers.length) return false
        return clock.some((reading) => {
          const charged = spend(bucket, times, cutShort, reading)
          return charged !== undefined && search(charged, after)
        })
      }
      if (call.answer === 'full') return search(times, after)
      return call.readings.some((reading) => {
        const charged = spend(bucket, times, call.key, reading)
        return (charged !== undefined) === call.answer && search(charged ?? times, after)
      })
    })
  }
  return search(start, threads.map(() => 0))
}
