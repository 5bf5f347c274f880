/** The most refused keys, in memory that does not grow with their number. */
import { createHash } from 'node:crypto'
import { outOfRange, wrongType } from '../errors.ts'

/** A key with about how often it was refused. Structured-cloneable. */
export interface RefusedKey {
  readonly key: string
  /** At most this often. */
  readonly count: number
  /** By how much `count` may be too high. */
  readonly error: number
}

/** Longer keys are shown by their beginning and a digest, so that a key's length costs no memory either. */
const MOST_CHARACTERS = 128

/** The key itself, or where it is long its beginning and a digest. */
export function label(key: string): string {
  if (key.length <= MOST_CHARACTERS) return key
  // Through a buffer: a slice of a string would keep the whole of it alive.
  const beginning = Buffer.from(key.slice(0, 64), 'utf16le').toString('utf16le')
  return `${beginning}...#${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex').slice(0, 16)}`
}

/**
 * Space-Saving: `size` counters; a key without one takes over the smallest, and its count as the error. A key refused
 * more often than one in `size` of all refusals is always among them. One for each thread; not shared.
 */
export class RefusedKeys {
  readonly #size: number
  readonly #counters = new Map<string, { count: number; error: number }>()

  /** `size` is 1 to 1,000, 100 by default. Throws `RangeError` ERR_HOTBUCKET_OPTION. */
  constructor(size = 100) {
    if (!Number.isInteger(size) || size < 1 || size > 1000) {
      throw outOfRange('ERR_HOTBUCKET_OPTION', 'size', size, 'a whole number from 1 to 1000')
    }
    this.#size = size
  }

  /** Counts `times` refusals of a key. */
  add(key: string, times = 1): void {
    this.#count(label(key), times, 0)
  }

  /** Takes in what another thread's sketch posted. */
  merge(others: readonly RefusedKey[]): void {
    for (const { key, count, error } of others) this.#count(key, count, error)
  }

  /** The keys, most refused first; `most` of them. */
  top(most = this.#size): readonly RefusedKey[] {
    return [...this.#counters]
      .map(([key, { count, error }]) => ({ key, count, error }))
      .sort((a, b) => b.count - a.count)
      .slice(0, most)
  }

  /**
   * The same limiter, whose refusals by `allow` and `consume`, tiers' too, are counted here. Pass it on in the place
   * of the limiter; those who do not ask for this pay nothing for it.
   */
  watch<L extends object>(limiter: L): L {
    if (typeof (limiter as { consume?: unknown } | null)?.consume !== 'function') {
      throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a RateLimiter or one of its tiers')
    }
    const counted = (verb: (...args: unknown[]) => unknown) => (key: unknown, ...rest: unknown[]): unknown => {
      const answer = verb.call(limiter, key, ...rest)
      const allowed = typeof answer === 'boolean' ? answer : (answer as { allowed?: unknown } | undefined)?.allowed
      if (allowed === false) this.add(key as string)
      return answer
    }
    return new Proxy(limiter, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const verb = value as (...args: unknown[]) => unknown
        if (name === 'allow' || name === 'consume') return counted(verb)
        if (name === 'tier') return (tier: unknown) => this.watch(verb.call(target, tier) as object)
        return name === 'constructor' ? verb : verb.bind(target)
      },
    })
  }

  #count(key: string, times: number, error: number): void {
    const counter = this.#counters.get(key)
    if (counter !== undefined) {
      counter.count += times
      counter.error += error
      return
    }
    if (this.#counters.size < this.#size) {
      this.#counters.set(key, { count: times, error })
      return
    }
    let least: string | undefined
    let floor = Infinity
    for (const [name, { count }] of this.#counters) {
      if (count < floor) [least, floor] = [name, count]
    }
    this.#counters.delete(least!)
    this.#counters.set(key, { count: floor + times, error: floor + error })
  }
}
