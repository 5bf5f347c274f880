/**
 * What a single thread could have answered: slow, obvious buckets, and a search for an order of the calls in which
 * they give the answers seen.
 */

/** What a bucket remembers: of a token bucket the time at which it is full, of a log the times of its units. */
type Memory = readonly number[]

/** A policy of one unit a call. */
export interface Bucket {
  readonly start: Memory
  /** The memory after a spend, or undefined when it is refused. */
  spend(memory: Memory, now: number): Memory | undefined
  refund(memory: Memory, now: number): Memory
}

export function tokens(burst: number, emissionMs: number): Bucket {
  return {
    start: [-Infinity],
    spend([full], now) {
      const next = Math.max(full!, now) + emissionMs
      return next - now > burst * emissionMs ? undefined : [next]
    },
    refund: ([full], now) => [full! <= now ? full! : Math.max(now, full! - emissionMs)],
  }
}

export function log(limit: number, windowMs: number): Bucket {
  const within = (times: Memory, now: number): Memory => times.filter((time) => time + windowMs > now)
  return {
    start: [],
    spend: (times, now) => (within(times, now).length >= limit ? undefined : [...times, Math.max(now, ...times)].slice(-limit)),
    refund: (times, now) => (within(times, now).length === 0 ? times : times.slice(0, -1)),
  }
}

/** A key is spent; with a minus before it, refunded. */
export interface Answer {
  readonly call: string
  /** `full`: no slot could be had, and nothing was decided. */
  readonly answer: boolean | 'full'
  /** The clock readings that the call made: it decides at one of them. */
  readonly readings: readonly number[]
}

export interface Thread {
  readonly answers: readonly Answer[]
  /** The call that a kill cut short: it may have been made or not. */
  readonly cutShort: string | undefined
}

/** By key. */
type Memories = Readonly<Record<string, Memory>>

export function after(bucket: Bucket, memories: Memories, call: string, now: number): Memories | undefined {
  const key = call.replace('-', '')
  const memory = memories[key] ?? bucket.start
  const next = call.startsWith('-') ? bucket.refund(memory, now) : bucket.spend(memory, now)
  return next && { ...memories, [key]: next }
}

/** How often `key` could still be spent at `now`. */
function left(bucket: Bucket, memories: Memories, key: string, now: number): number {
  let count = 0
  for (let at: Memories | undefined = memories; (at = after(bucket, at, key, now)) !== undefined; ) count++
  return count
}

/**
 * True when some order of the threads' calls, each deciding at a reading it made, gives these answers and leaves
 * `drained` spends of each key at the last reading of `clock`, which holds all those there have been.
 */
export function isSequential(bucket: Bucket, start: Memories, threads: readonly Thread[], drained: Readonly<Record<string, number>>, clock: readonly number[]): boolean {
  const now = clock.at(-1)!
  const seen = new Set<string>()
  function search(memories: Memories, done: readonly number[]): boolean {
    const signature = JSON.stringify([memories, done])
    if (seen.has(signature)) return false
    seen.add(signature)
    const all = threads.every(({ answers }, t) => done[t]! >= answers.length)
    if (all && Object.entries(drained).every(([key, count]) => left(bucket, memories, key, now) === count)) return true
    return threads.some(({ answers, cutShort }, t) => {
      const further = done.map((count, other) => (other === t ? count + 1 : count))
      const answered = answers[done[t]!]
      if (answered === undefined) {
        // The dead thread's last call, at any reading that it may have made.
        if (cutShort === undefined || done[t] !== answers.length) return false
        return clock.some((reading) => {
          const next = after(bucket, memories, cutShort, reading)
          return next !== undefined && search(next, further)
        })
      }
      if (answered.answer === 'full') return search(memories, further)
      return answered.readings.some((reading) => {
        const next = after(bucket, memories, answered.call, reading)
        return (next !== undefined) === answered.answer && search(next ?? memories, further)
      })
    })
  }
  return search(start, threads.map(() => 0))
}
