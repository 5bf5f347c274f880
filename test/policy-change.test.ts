/** Changes of policy that a thread slept through. */
import { afterEach, expect, it } from 'vitest'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'
import type { Engine } from './engines.ts'
import { admitted, bench, clockOf, engines } from './engines.ts'
import { loadTwin } from './explorer/core.ts'

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

/** What a key that is not called while policies change is then admitted, of a limit of 5 of which one is spent. */
function quiet(Limiter: typeof RateLimiter, sync: Engine, changes: number): number {
  const limiter = new Limiter({ policy: fixedWindow({ limit: 1_000, windowMs }), sync, clock: clockOf(() => 0) })
  expect(limiter.allow('quiet')).toBe(true)
  for (let change = 1; change <= changes; change++) {
    limiter.setPolicy('default', fixedWindow({ limit: change === changes ? 5 : 1_000 + change, windowMs }))
    limiter.allow('busy')
  }
  return admitted(limiter, 'quiet', 2_000)
}

/** By its terms a drained bucket of the others looks full. */
const steep = (change: number) => tokenBucket({ limit: 9_000_000 + change, periodMs: 60_000 })
const slow = (periodMs: number) => tokenBucket({ limit: 5, periodMs })

/** Two tiers, every key of the first drained; `again` is what they are admitted once more. Other tiers have `others` policies. */
function drained(Limiter: typeof RateLimiter, sync: Engine, others = 0) {
  let ms = 0
  const clock = clockOf(() => ms)
  const pair = { algorithm: 'all-of' as const, parts: [slow(1_000), slow(2_000)] }
  const crowd = Object.fromEntries(Array.from({ length: Math.ceil(others / 2) }, (_, at) => [`tier ${at}`, 2 * at + 1 < others ? pair : slow(1_000)]))
  const limiter = new Limiter({ tiers: { ...crowd, a: slow(60_000), b: steep(0) }, sync, clock, maxKeys: 100 })
  ms = 600_000
  const keys = Array.from({ length: 50 }, (_, i) => `key ${i}`)
  for (const key of keys) expect(admitted(limiter.tier('a'), key, 6)).toBe(5)
  const again = (): number => keys.reduce((sum, key) => sum + admitted(limiter.tier('a'), key, 6), 0)
  return { limiter, other: Limiter.attach(limiter.handle, { clock }), again }
}

/** Makes a change of policy, or is told by name that no entry is free just now. */
function attempt(change: () => void): void {
  try {
    change()
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_HOTBUCKET_OPTION' })
  }
}

/** As a thread that sets a policy dies at its exchange of a word numbered `at`, and another policy is changed often after. */
function afterDeath(Limiter: typeof RateLimiter, sync: Engine, at: number, others: number): number {
  const { limiter, again } = drained(Limiter, sync, others)
  const dies = (): void => interrupted(at, () => { throw new Error('dead') }, () => limiter.setPolicy('a', slow(61_000)))
  expect(dies).toThrow('dead')
  for (let change = 0; change < 70; change++) attempt(() => limiter.setPolicy('b', steep(change)))
  return again()
}

/** As a thread that sets a policy is overtaken there by `changes` of another, where `others` policies leave few entries. */
function afterOvertaking(Limiter: typeof RateLimiter, sync: Engine, at: number, changes: number, others: number): number {
  const { limiter, other, again } = drained(Limiter, sync, others)
  const overtake = (): void => {
    for (let change = 0; change < changes; change++) attempt(() => (change % 2 === 0 ? other.setPolicy('b', steep(change)) : other.setPolicy('a', slow(60_000 + change))))
  }
  interrupted(at, overtake, () => limiter.setPolicy('a', slow(61_000)))
  return again()
}

it.each(engines)('%s: a key not called since is judged by the last policy, though other keys were called after each change (G1)', (sync) => {
  for (const changes of [62, 63, 64, 126]) expect(quiet(RateLimiter, sync, changes)).toBe(4)
})

it.each(engines)('%s: a thread that dies while it converts buckets mints nothing, however often other policies change after (G8)', (sync) => {
  for (const [at, others] of [[1, 0], [10, 0], [50, 0], [10, 60], [25, 59]] as const) expect(afterDeath(RateLimiter, sync, at, others)).toBe(0)
})

it.each(engines)('%s: a thread that is overtaken by any number of changes while it converts buckets mints nothing (G1)', (sync) => {
  for (const [at, changes, others] of [[1, 1, 0], [10, 62, 0], [25, 63, 0], [50, 64, 0], [10, 3, 60], [10, 5, 59]] as const) expect(afterOvertaking(RateLimiter, sync, at, changes, others)).toBe(0)
})

it.each(engines)('%s: of twins, one that compares no version judges by an old policy, one that looks at no slot before it writes an entry mints', async (sync) => {
  const blind = await loadTwin({ name: 'compares no version', patches: [{ from: 'cells[policyVersion] === place.version &&', to: '' }] })
  expect(quiet(blind.RateLimiter, sync, 63)).toBeGreaterThan(4)
  const hasty = await loadTwin({ name: 'looks at no slot', patches: [{ from: 'const used = new Set(settle());', to: 'const used = new Set();' }] })
  expect(afterDeath(hasty.RateLimiter, sync, 10, 60)).toBeGreaterThan(0)
  expect(afterOvertaking(hasty.RateLimiter, sync, 10, 3, 60)).toBeGreaterThan(0)
})

it('where policies leave no room for the new beside the old, a change is refused by name, and the next that fits is made', () => {
  const tiers = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`tier ${i}`, { algorithm: 'all-of' as const, parts: [fixedWindow({ limit: 9, windowMs }), fixedWindow({ limit: 99, windowMs: 60_000 })] }]))
  const limiter = new RateLimiter({ tiers, clock: new SharedClock(0), maxKeys: 10 })
  const wider = { algorithm: 'all-of' as const, parts: [fixedWindow({ limit: 8, windowMs }), fixedWindow({ limit: 99, windowMs: 60_000 })] }
  expect(() => limiter.setPolicy('tier 0', wider)).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_OPTION', name: 'RangeError' }))
  expect(admitted(limiter.tier('tier 0'), 'k', 20)).toBe(9)
})
