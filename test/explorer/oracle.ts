/**
 * What a single thread could have answered: slow, obvious buckets, and a search for an order of the calls in which
 * they give the answers seen.
 */

/** What a bucket remembers, as numbers; see each. */
type Memory = readonly number[]

/** A policy, by calls of one unit. */
export interface Bucket {
  readonly start: Memory
  /** The memory after a spend, or undefined when it is refused. */
  spend(memory: Memory, now: number): Memory | undefined
  refund(memory: Memory, now: number): Memory
  /** How many spends each of its parts would still allow. */
  left(memory: Memory, now: number): number[]
  /** The memory under another burst, the same fraction used. */
  convert?(memory: Memory, now: number, burst: number): Memory
  /** What a spend that is cut short may leave, besides nothing and the whole. */
  torn?(memory: Memory, now: number): Memory[]
  /** True where a call may be refused because of another that is refused in the end. */
  readonly mayRefuse?: boolean
}

function countSpends({ spend }: Pick<Bucket, 'spend'>, memory: Memory, now: number): number {
  let count = 0
  for (let at: Memory | undefined = memory; (at = spend(at, now)) !== undefined; ) count++
  return count
}

/** A bucket of one part. */
function single(bucket: Omit<Bucket, 'left'>): Bucket {
  return { ...bucket, left: (memory, now) => [countSpends(bucket, memory, now)] }
}

/** Remembers the time at which it is full, and its burst. */
export function tokens(burst: number, emissionMs: number): Bucket {
  return single({
    start: [-Infinity, burst],
    spend([full, most], now) {
      const next = Math.max(full!, now) + emissionMs
      return next - now > most! * emissionMs ? undefined : [next, most!]
    },
    refund: ([full, most], now) => [full! <= now ? full! : Math.max(now, full! - emissionMs), most!],
    convert([full, most], now, to) {
      // Not before the last charge.
      const at = Math.max(now, full! - most! * emissionMs)
      return [at + Math.ceil((Math.max(0, full! - at) * 1_000 * to) / most!) / 1_000, to]
    },
  })
}

/**
 * Remembers the times of as many units as its limit. In the place of one that is given back is one that left the window
 * when it was charged: to an older reading it has not.
 */
export function log(limit: number, windowMs: number): Bucket {
  const isIn = (time: number | undefined, now: number): boolean => time !== undefined && time + windowMs > now
  return single({
    start: [],
    spend: (times, now) => (times.length === limit && isIn(times[0], now) ? undefined : [...times, Math.max(now, ...times)].slice(-limit)),
    refund: (times, now) => (!isIn(times.at(-1), now) ? times : [times.at(-1)! - windowMs, ...times.slice(0, -1)]),
  })
}

/**
 * Remembers a window, the count of the one before, and its own; to an older reading it is as at the window's start, and
 * a refund of then is not for it.
 */
export function counter(limit: number, windowMs: number): Bucket {
  function rolled([window, previous, current]: Memory, now: number): [window: number, previous: number, current: number] {
    const ahead = Math.floor(now / windowMs) - window!
    if (ahead <= 0) return [window!, previous!, current!]
    return [window! + ahead, ahead === 1 ? current! : 0, 0]
  }
  return single({
    start: [0, 0, 0],
    spend(memory, now) {
      const [window, previous, current] = rolled(memory, now)
      const elapsed = Math.max(0, now - window * windowMs)
      const weighted = (previous * (windowMs - elapsed)) / windowMs + current + 1
      return current + 1 > limit || weighted > limit ? undefined : [window, previous, current + 1]
    },
    refund(memory, now) {
      const [window, previous, current] = rolled(memory, now)
      if (now < window * windowMs || (previous === 0 && current === 0)) return memory
      return current > 0 ? [window, previous, current - 1] : [window, previous - 1, 0]
    },
  })
}

/** Remembers a window and its count; a refund at an older reading is not for it. */
export function fixed(limit: number, windowMs: number): Bucket {
  const rolled = ([window, count]: Memory, now: number): [number, number] =>
    Math.floor(now / windowMs) > window! ? [Math.floor(now / windowMs), 0] : [window!, count!]
  return single({
    start: [-Infinity, 0],
    spend(memory, now) {
      const [window, count] = rolled(memory, now)
      return count >= limit ? undefined : [window, count + 1]
    },
    refund(memory, now) {
      const [window, count] = rolled(memory, now)
      return now < window * windowMs || count === 0 ? memory : [window, count - 1]
    },
  })
}

/**
 * Two buckets charged together: remembers what the first does, then what the second. At a clock that stands still a
 * call may be refused only where one thread would refuse it; else also because of a charge that is given back later.
 */
export function both(first: Bucket, second: Bucket, mayRefuse: boolean): Bucket {
  const split = (memory: Memory): [Memory, Memory] => [memory.slice(0, first.start.length), memory.slice(first.start.length)]
  return {
    mayRefuse,
    start: [...first.start, ...second.start],
    spend(memory, now) {
      const [one, other] = split(memory)
      const [charged, charged2] = [first.spend(one, now), second.spend(other, now)]
      return charged && charged2 && [...charged, ...charged2]
    },
    refund(memory, now) {
      const [one, other] = split(memory)
      return [...first.refund(one, now), ...second.refund(other, now)]
    },
    torn(memory, now) {
      const [one, other] = split(memory)
      const charged = first.spend(one, now)
      return charged === undefined ? [] : [[...charged, ...other]]
    },
    left(memory, now) {
      const [one, other] = split(memory)
      return [...first.left(one, now), ...second.left(other, now)]
    },
  }
}

/** `x` spends the key x, `2x` two units of it at once, `-x` gives one back to it, `!x` resets it, `=2` sets the burst of the policy to 2. */
export interface Answer {
  readonly call: string
  /** `full`: no slot could be had, and nothing was decided. */
  readonly answer: boolean | 'full'
  /** The clock readings that the call made: it decides at one of them. A policy is set at any, since others may help. */
  readonly readings: readonly number[]
}

export interface Thread {
  readonly answers: readonly Answer[]
  /** The call that a kill cut short: it may have been made or not. */
  readonly cutShort: string | undefined
}

/** By key. */
export type Memories = Readonly<Record<string, Memory>>

export function keyOf(call: string): string {
  return call.replace(/^[-!2]/, '')
}

function reset({ refund }: Bucket, memory: Memory, now: number): Memory {
  for (let at = memory; ; ) {
    const next = refund(at, now)
    if (next.join() === at.join()) return at
    at = next
  }
}

/** The memories after a call, or undefined when it is refused. */
export function after(bucket: Bucket, memories: Memories, call: string, now: number): Memories | undefined {
  if (call.startsWith('=')) return Object.fromEntries(Object.entries(memories).map(([key, memory]) => [key, bucket.convert!(memory, now, Number(call.slice(1)))]))
  const key = keyOf(call)
  const memory = memories[key]!
  if (call.startsWith('!')) return { ...memories, [key]: reset(bucket, memory, now) }
  let next: Memory | undefined = call.startsWith('-') ? bucket.refund(memory, now) : bucket.spend(memory, now)
  if (call.startsWith('2')) next = next && bucket.spend(next, now)
  return next && { ...memories, [key]: next }
}

/** What the dead thread's last call, `call`, may have left. */
function afterCut(bucket: Bucket, memories: Memories, call: string, now: number): Memories[] {
  const whole = after(bucket, memories, call, now)
  const torn = bucket.torn !== undefined && memories[call] !== undefined ? bucket.torn(memories[call], now) : []
  return [...(whole === undefined ? [] : [whole]), ...torn.map((memory) => ({ ...memories, [call]: memory }))]
}

/**
 * True when some order of the threads' calls, each deciding at a reading it made, gives these answers and leaves
 * `drained` spends of each key at the last reading of `clock`, which holds all those there have been.
 */
export function isSequential(bucket: Bucket, start: Memories, threads: readonly Thread[], drained: Readonly<Record<string, readonly number[]>>, clock: readonly number[]): boolean {
  const now = clock.at(-1)!
  const seen = new Set<string>()
  function search(memories: Memories, done: readonly number[]): boolean {
    const signature = JSON.stringify([memories, done])
    if (seen.has(signature)) return false
    seen.add(signature)
    const all = threads.every(({ answers }, t) => done[t]! >= answers.length)
    if (all && Object.entries(drained).every(([key, counts]) => bucket.left(memories[key]!, now).join() === counts.join())) return true
    return threads.some(({ answers, cutShort }, t) => {
      const further = done.map((count, other) => (other === t ? count + 1 : count))
      const answered = answers[done[t]!]
      if (answered === undefined) {
        // The dead thread's last call, at any reading that it may have made.
        if (cutShort === undefined || done[t] !== answers.length) return false
        return clock.some((reading) => afterCut(bucket, memories, cutShort, reading).some((next) => search(next, further)))
      }
      const { call, answer, readings } = answered
      if (answer === 'full' || (answer === false && bucket.mayRefuse === true)) return search(memories, further)
      return (call.startsWith('=') ? clock : readings).some((reading) => {
        const next = after(bucket, memories, call, reading)
        return (next !== undefined) === answer && search(next ?? memories, further)
      })
    })
  }
  return search(start, threads.map(() => 0))
}
