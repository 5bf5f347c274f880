/** Changes of policy that a thread slept through. */
import { afterEach, expect, it } from 'vitest'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'
import { admitted, bench, engines } from './engines.ts'

const windowMs = 1_000
const { compareExchange } = Atomics
afterEach(() => void Object.assign(Atomics, { compareExchange }))

/** Calls `before` at the exchange of a 64-bit word numbered `at`, of those made by `run`. */
function interrupted(at: number, before: () => void, run: () => void): void {
  let exchanges = 0
  Atomics.compareExchange = ((cells: BigInt64Array, ...rest: [number, bigint, bigint]) => {
    if (cells instanceof BigInt64Array && ++exchanges === at) {
      Object.assign(Atomics, { compareExchange })
      before()
    }
    return compareExchange(cells, ...rest)
  }) as typeof Atomics.compareExchange
  try {
    run()
  } finally {
    Object.assign(Atomics, { compareExchange })
  }
}

it.each(engines)('%s: a thread that slept through any number of changes obeys the last, though entries of the policy table come round', (sync) => {
  for (const changes of [1, 2, 62, 63, 64, 126]) {
    const { limiter } = bench(sync, fixedWindow({ limit: 100, windowMs }))
    const sleeper = RateLimiter.attach(limiter.handle)
    expect(sleeper.allow('k')).toBe(true)
    for (let change = 1; change < changes; change++) limiter.setPolicy('default', fixedWindow({ limit: 100, windowMs: windowMs + change }))
    limiter.setPolicy('default', fixedWindow({ limit: 10, windowMs }))
    // First by `allow`, which looks at no policy but its own.
    expect(admitted(sleeper, 'k', 200)).toBe(9)
    expect(sleeper.peek('k')).toMatchObject({ limit: 10, remaining: 0 })
  }
})

it.each(engines)('%s: a key not called since is judged by the last policy, though other keys were called after each change', (sync) => {
  for (const changes of [62, 63, 64, 126]) {
    const { limiter } = bench(sync, fixedWindow({ limit: 1_000, windowMs }))
    expect(limiter.allow('quiet')).toBe(true)
    for (let change = 1; change <= changes; change++) {
      limiter.setPolicy('default', fixedWindow({ limit: change === changes ? 5 : 1_000 + change, windowMs }))
      limiter.allow('busy')
    }
    expect(admitted(limiter, 'quiet', 2_000)).toBe(4)
  }
})

/** By its terms a drained bucket of the others looks full. */
const steep = (change: number) => tokenBucket({ limit: 9_000_000 + change, periodMs: 60_000 })

/** Two tiers, every key of the first drained. */
function drained(sync: 'cas' | 'mutex') {
  const tiers = { a: tokenBucket({ limit: 5, periodMs: 60_000 }), b: steep(0) }
  const clock = new SharedClock(0)
  const limiter = new RateLimiter({ tiers, sync, clock, maxKeys: 100 })
  clock.set(600_000)
  const keys = Array.from({ length: 50 }, (_, i) => `key ${i}`)
  for (const key of keys) expect(admitted(limiter.tier('a'), key, 6)).toBe(5)
  const again = (): number => keys.reduce((sum, key) => sum + admitted(limiter.tier('a'), key, 6), 0)
  return { limiter, again }
}

it.each(engines)('%s: a thread that dies while it converts buckets mints nothing, however often other policies change after (G8)', (sync) => {
  for (const at of [1, 10, 50]) {
    const { limiter, again } = drained(sync)
    const dies = (): void => interrupted(at, () => { throw new Error('dead') }, () => limiter.setPolicy('a', tokenBucket({ limit: 5, periodMs: 61_000 })))
    expect(dies).toThrow('dead')
    for (let change = 0; change < 70; change++) limiter.setPolicy('b', steep(change))
    expect(again()).toBe(0)
  }
})

it.each(engines)('%s: a thread that is overtaken by any number of changes while it converts buckets mints nothing (G1)', (sync) => {
  for (const [at, changes] of [[1, 1], [10, 62], [25, 63], [50, 64]] as const) {
    const { limiter, again } = drained(sync)
    const other = RateLimiter.attach(limiter.handle)
    const overtake = (): void => {
      for (let change = 0; change < changes; change++) other.setPolicy(change % 2 === 0 ? 'b' : 'a', change % 2 === 0 ? steep(change) : tokenBucket({ limit: 5, periodMs: 60_000 + change }))
    }
    interrupted(at, overtake, () => limiter.setPolicy('a', tokenBucket({ limit: 5, periodMs: 61_000 })))
    expect(again()).toBe(0)
  }
})

it('where policies leave no room for the new beside the old, a change is refused by name, and the next that fits is made', () => {
  const tiers = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`tier ${i}`, { algorithm: 'all-of' as const, parts: [fixedWindow({ limit: 9, windowMs }), fixedWindow({ limit: 99, windowMs: 60_000 })] }]))
  const limiter = new RateLimiter({ tiers, clock: new SharedClock(0), maxKeys: 10 })
  const wider = { algorithm: 'all-of' as const, parts: [fixedWindow({ limit: 8, windowMs }), fixedWindow({ limit: 99, windowMs: 60_000 })] }
  expect(() => limiter.setPolicy('tier 0', wider)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION', name: 'RangeError' }))
  expect(admitted(limiter.tier('tier 0'), 'k', 20)).toBe(9)
})
