/** What can be attached, and what is refused with the difference named. MM-04 is in test/threads/one-budget.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LimiterHandle } from '../../src/index.ts'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from '../../src/index.ts'
import { HEADER } from '../../src/memory/layout.ts'
import { admitted, engines } from '../engines.ts'
import { Crew } from '../threads/crew.ts'

const tiers = { free: tokenBucket({ limit: 5, periodMs: 1_000 }), otp: fixedWindow({ limit: 2, windowMs: 1_000 }) }
let crew: Crew
beforeAll(async () => void (crew = await Crew.of(1)))
afterAll(() => crew[Symbol.asyncDispose]())

// https://github.com/oven-sh/bun/issues/35247
describe.each(engines)('MM-02 %s: a handle that is not ours is a TypeError ERR_HOTBUCKET_HANDLE that says why', (sync) => {
  const make = () => new RateLimiter({ tiers, sync, maxKeys: 100, clock: new SharedClock() })
  const refuses = (handle: unknown, why: RegExp, options = {}) => {
    const attach = () => RateLimiter.attach(handle as LimiterHandle, options)
    expect(attach).toThrow(TypeError)
    expect(attach).toThrow(expect.objectContaining({ code: 'ERR_HOTBUCKET_HANDLE', message: expect.stringMatching(why) }))
  }
  /** The handle with a copy of its buffer, changed by `edit`. */
  const edited = (edit: (cells: Int32Array) => void, size?: number) => {
    const { handle } = make()
    const copy = new SharedArrayBuffer(size ?? handle.buffer.byteLength)
    new Uint8Array(copy).set(new Uint8Array(handle.buffer).subarray(0, copy.byteLength))
    edit(new Int32Array(copy))
    return { ...handle, buffer: copy }
  }

  it('no handle at all, or one without tiers', () => {
    for (const value of [undefined, null, 1, 'handle', () => 0]) refuses(value, /not the handle of a limiter/)
    refuses({ buffer: make().handle.buffer }, /names no tiers/)
    refuses({}, /names no tiers/)
  })

  it('memory that is not shared: an ArrayBuffer copy, a JSON round trip, a view', () => {
    const { handle } = make()
    const copy = new Uint8Array(handle.buffer).slice().buffer
    for (const buffer of [copy, JSON.parse(JSON.stringify(handle)).buffer, undefined, new Int32Array(handle.buffer, 64)]) {
      refuses({ ...handle, buffer }, /not a SharedArrayBuffer/)
    }
  })

  it('shared memory of another size, zeroed, foreign, unfinished or of another version', () => {
    const { handle } = make()
    const whole = handle.buffer.byteLength
    refuses({ ...handle, buffer: new SharedArrayBuffer(0) }, /0 bytes, fewer than a header/)
    refuses({ ...handle, buffer: new SharedArrayBuffer(whole) }, /not hold a hotbucket arena/)
    refuses(edited(() => {}, whole - 16), new RegExp(`${whole - 16} bytes; an arena for 100 keys has ${whole}`))
    refuses(edited((cells) => (cells[HEADER.magic] = 1)), /not hold a hotbucket arena/)
    refuses(edited((cells) => (cells[HEADER.sealed] = 0)), /not hold a hotbucket arena/)
    refuses(edited((cells) => (cells[HEADER.version] = 99)), /version 99, this code reads version/)
    for (const maxKeys of [0, -1, 2 ** 30, 101]) refuses(edited((cells) => (cells[HEADER.maxKeys] = maxKeys)), /an arena for/)
    refuses(edited((cells) => cells[HEADER.bucketCount]!++), /an arena for/)
    refuses(edited((cells) => (cells[HEADER.sync] = sync === 'mutex' ? 0 : 1)), /an arena for/)
  })

  it('policies or tier names that differ, in the handle or as this thread expects them', () => {
    const { handle } = make()
    refuses({ ...handle, tiers: { free: tiers.free } }, /its tiers \(free\) are not the 2 tiers/)
    refuses({ ...handle, tiers: { free: tiers.free, pro: tiers.otp } }, /its tiers \(free, pro\)/)
    refuses({ ...handle, tiers: { otp: tiers.otp, free: tiers.free } }, /its tiers \(otp, free\)/)
    refuses({ ...handle, tiers: { ...tiers, free: tokenBucket({ limit: 6, periodMs: 1_000 }) } }, /tier free is .*6.* in the handle, .*5.* in the arena/)
    refuses(handle, /tier free is .* in this thread/, { tiers: { ...tiers, free: fixedWindow({ limit: 5, windowMs: 1_000 }) } })
    refuses(handle, /this thread has the tiers free/, { tiers: { free: tiers.free } })
  })

  it('a clock that is none', () => {
    const { handle } = make()
    for (const clock of [{ buffer: new SharedArrayBuffer(4) }, { buffer: new ArrayBuffer(8) }, {}]) refuses({ ...handle, clock }, /SharedClock/)
  })

  it('and what is ours attaches, in a worker too, and shares the bucket', async () => {
    const limiter = make()
    const attached = RateLimiter.attach(limiter.handle, { tiers, tierOf: () => 'free' })
    expect(admitted(attached, 'k', 10)).toBe(5)
    expect(limiter.tier('free').allow('k')).toBe(false)
    const one = new RateLimiter({ policy: tiers.otp, sync, clock: new SharedClock() })
    expect(one.allow('k')).toBe(true)
    expect(await crew.run('callOnce', { handle: one.handle, key: 'k' })).toEqual([true])
    expect(one.allow('k')).toBe(false)
  })
})
