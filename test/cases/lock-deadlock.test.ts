/** The lock of `sync: 'mutex'`: held by the dead, by the slow, by none; waited for, or not to be waited for (G8). */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RateLimiter } from '../../src/index.ts'
import { RateLimiter as Limiter, tokenBucket } from '../../src/index.ts'
import { SLOT_BYTES, SLOTS_OFFSET } from '../../src/memory/layout.ts'
import { admitted, bench, clockOf, engines } from '../engines.ts'
import { seed } from '../oracle/timeline.ts'
import type { Fault } from '../threads/crew.ts'
import { Crew, sum } from '../threads/crew.ts'

const policy = tokenBucket({ limit: 1, periodMs: 1_000, burst: 100_000 })
const { compareExchange, wait } = Atomics
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(8)))
afterAll(() => crew[Symbol.asyncDispose]())
afterEach(() => void Object.assign(Atomics, { compareExchange, wait }))

/** The cells of the arena, and where the lock of its first slot is. */
function lockOf(limiter: RateLimiter): { cells: Int32Array; at: number } {
  const { capacity } = limiter.stats()
  return { cells: new Int32Array(limiter.handle.buffer), at: (SLOTS_OFFSET + capacity * SLOT_BYTES) / 4 }
}

/** A lock word that no attachment of the test has. */
const STRANGER = 12_345 << 1

// https://github.com/whatwg/html/issues/1004
describe.each([['before', 1], ['after', 2]] as const)('DL-01: a holder terminated %s it wrote the state', (where, spent) => {
  it('delays no other key, is taken over once, and leaves no extra token (G4, G8)', async () => {
    const { limiter } = bench('mutex', policy, { maxKeys: 8, lockTimeoutMs: 5 })
    const worker = new Worker(new URL('../workers/holder.mjs', import.meta.url), { workerData: { handle: limiter.handle, where } })
    await once(worker, 'message')
    await worker.terminate()
    expect(admitted(limiter, 'J', 1_000)).toBe(1_000)
    expect(limiter.stats().lockTimeouts).toBe(0)
    expect(limiter.consume('K')).toMatchObject({ allowed: true, remaining: 100_000 - spent - 1 })
    expect(limiter.stats().lockTimeouts).toBe(1)
    expect(admitted(limiter, 'K', 10_000)).toBe(10_000)
    expect(limiter.peek('K').remaining).toBe(100_000 - spent - 10_001)
    expect(limiter.stats()).toMatchObject({ lockTimeouts: 1, contended: 0 })
  })
})

it('DL-01: a holder that was only slow does no harm when it wakes: its write fails, and it tries again (G8)', () => {
  const { limiter } = bench('mutex', tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 }), { maxKeys: 1, lockTimeoutMs: 0 })
  const other = Limiter.attach(limiter.handle)
  expect([limiter.allow('K'), other.allow('K')]).toEqual([true, true])
  let interrupted = 0
  Atomics.compareExchange = ((cells: BigInt64Array, at: number, expected: bigint, replacement: bigint) => {
    // Between the look and the write of the slow one, another takes the lock over and spends.
    if (cells instanceof BigInt64Array && interrupted++ === 0) expect(other.allow('K')).toBe(true)
    return compareExchange(cells, at, expected, replacement)
  }) as typeof Atomics.compareExchange
  expect(limiter.allow('K')).toBe(true)
  Object.assign(Atomics, { compareExchange, wait })
  expect(limiter.peek('K').remaining).toBe(1)
  expect(limiter.stats()).toMatchObject({ allowed: 4, lockTimeouts: 1, casRetries: 1 })
  const { cells, at } = lockOf(limiter)
  expect(cells[at]).toBe(0)
})

// https://github.com/elf-audio/mzgl/pull/101
describe('DL-03: a wake-up is not lost', () => {
  const cycles = async (lockTimeoutMs: number, fault?: Fault) => {
    const { limiter } = bench('mutex', policy, { maxKeys: 8, lockTimeoutMs })
    const spent = sum(await crew.run<number>('lockCycles', { handle: limiter.handle, calls: 10_000, seed }, { fault }))
    return { spent, lockTimeouts: limiter.stats().lockTimeouts }
  }

  it('8 workers, 80,000 cycles on one lock: nobody waits out a time-out of a minute', async () => {
    expect(await cycles(60_000)).toEqual({ spent: 80_000, lockTimeouts: 0 })
  })

  it('the twin that wakes nobody waits its time-outs out, and still spends exactly', async () => {
    const { spent, lockTimeouts } = await cycles(1, 'lost-wake-up')
    expect(spent).toBe(80_000)
    expect(lockTimeouts).toBeGreaterThan(0)
  })

  it('a release between the mark and the wait makes the wait return not-equal at once', () => {
    const { limiter } = bench('mutex', policy, { maxKeys: 1, lockTimeoutMs: 60_000 })
    expect(limiter.allow('K')).toBe(true)
    const { cells, at } = lockOf(limiter)
    cells[at] = STRANGER
    const outcomes: string[] = []
    Atomics.wait = ((...waited: Parameters<typeof Atomics.wait>) => {
      expect([waited[1], waited[2]]).toEqual([at, STRANGER | 1])
      Atomics.store(cells, at, 0)
      Atomics.notify(cells, at, 1)
      const outcome = wait(...waited)
      outcomes.push(outcome)
      return outcome
    }) as typeof Atomics.wait
    expect(limiter.allow('K')).toBe(true)
    expect(outcomes).toEqual(['not-equal'])
    expect(cells[at]).toBe(0)
  })
})

// https://github.com/stablyai/orca/pull/11940
it('DL-05: a thread that may not block goes on without the lock, spends exactly, and leaves it to its holder', () => {
  const { limiter } = bench('mutex', policy, { maxKeys: 1 })
  expect(limiter.allow('K')).toBe(true)
  const { cells, at } = lockOf(limiter)
  cells[at] = STRANGER
  Atomics.wait = () => {
    throw new TypeError('Atomics.wait cannot be called in this context')
  }
  expect(limiter.consume('K')).toMatchObject({ allowed: true, remaining: 99_998 })
  expect(cells[at]).toBe(STRANGER | 1)
  cells[at] = 0
  expect(limiter.consume('K')).toMatchObject({ allowed: true, remaining: 99_997 })
  expect([cells[at], limiter.stats().lockTimeouts]).toEqual([0, 0])
})

it('DL-05: the main thread waits for a slow holder no longer than lockTimeoutMs, then goes on', () => {
  const { limiter } = bench('mutex', policy, { maxKeys: 1, lockTimeoutMs: 20 })
  expect(limiter.allow('K')).toBe(true)
  const { cells, at } = lockOf(limiter)
  cells[at] = STRANGER
  const waits: unknown[] = []
  Atomics.wait = ((...waited: Parameters<typeof Atomics.wait>) => {
    waits.push(waited[3])
    return wait(...waited)
  }) as typeof Atomics.wait
  expect(limiter.allow('K')).toBe(true)
  expect(waits).toEqual([20])
  expect([cells[at], limiter.stats().lockTimeouts]).toEqual([0, 1])
})

// https://github.com/nodejs/node/issues/31246
it.each(engines)('DL-06: a worker attaches and spends while the main thread never turns its event loop (%s)', async (sync) => {
  const { limiter } = bench(sync, policy, { maxKeys: 1 })
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const wanted = 1_000
  const done = crew.run<number>('showProgress', { handle: limiter.handle, progress, wanted }, { size: 1 })
  // Bounded by a count, not by time: a hundred million calls are far more than the worker needs for its thousand.
  let calls = 0
  while (Atomics.load(progress, 0) < wanted && calls < 100_000_000) {
    limiter.allow('K')
    calls++
  }
  expect(Atomics.load(progress, 0)).toBe(wanted)
  expect(await done).toEqual([wanted])
  const { allowed, denied } = limiter.stats()
  expect(allowed + denied).toBe(calls + wanted)
})

// https://github.com/camunda/camunda/pull/6577
it.each(engines)('DL-08: a clock that throws, or gives NaN or a bigint, spoils its own call only (%s)', (sync) => {
  const faults: Record<number, () => unknown> = { 3: () => { throw new Error('clock') }, 5: () => NaN, 7: () => 7n }
  let reading = -2
  const clock = clockOf(() => (faults[reading++]?.() ?? 0) as number)
  const limiter = new Limiter({ policy, sync, maxKeys: 1, clock })
  // The call that makes the bucket reads the clock twice; those that follow, once.
  expect(limiter.allow('K')).toBe(true)
  expect(reading).toBe(1)
  const answers = Array.from({ length: 10 }, () => {
    try {
      return limiter.allow('K')
    } catch (error) {
      return (error as { code?: string }).code ?? (error as Error).message
    }
  })
  const bad = 'ERR_HOTBUCKET_CLOCK'
  expect(answers).toEqual([true, true, 'clock', true, bad, true, bad, true, true, true])
  const other = Limiter.attach(limiter.handle, { clock: clockOf(() => 0) })
  expect(other.consume('K')).toMatchObject({ allowed: true, remaining: 100_000 - 9 })
  expect(limiter.stats().lockTimeouts).toBe(0)
  if (sync === 'mutex') {
    const { cells, at } = lockOf(limiter)
    expect(cells[at]).toBe(0)
  }
})

// https://github.com/tc39/test262/pull/1493
describe('DL-09: lockTimeoutMs never means for ever by accident', () => {
  it.each([NaN, '50', -1, 0.5, Infinity, null, 60_001])('%s is refused', (lockTimeoutMs) => {
    const refusal = { code: 'ERR_HOTBUCKET_OPTION', message: expect.stringMatching(/^lockTimeoutMs must be a whole number from 0 to 60000/) }
    expect(() => new Limiter({ policy, sync: 'mutex', lockTimeoutMs: lockTimeoutMs as number })).toThrow(expect.objectContaining(refusal))
  })

  it.each([[undefined, 50], [0, 0], [7, 7]])('%s waits %i ms at most, in all attachments', (given, used) => {
    const options = given === undefined ? {} : { lockTimeoutMs: given }
    const { limiter } = bench('mutex', policy, { maxKeys: 1, ...options })
    expect(limiter.allow('K')).toBe(true)
    const { cells, at } = lockOf(limiter)
    for (const each of [limiter, Limiter.attach(limiter.handle)]) {
      cells[at] = STRANGER
      const waits: unknown[] = []
      Atomics.wait = ((...waited: Parameters<typeof Atomics.wait>) => (waits.push(waited[3]), 'timed-out')) as typeof Atomics.wait
      expect(each.allow('K')).toBe(true)
      expect(waits).toEqual([used])
    }
  })
})
