/** Several limits on one key: all are charged or none. There is no verb that reserves or waits, so OA-08 has no case here. */
import { describe, expect, it } from 'vitest'
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { admitted, bench, engines } from '../engines.ts'

const [second, minute] = [fixedWindow({ limit: 2, windowMs: 1_000 }), fixedWindow({ limit: 5, windowMs: 60_000 })]

describe.each(engines)('%s', (sync) => {
  // https://github.com/ravangen/graphql-rate-limit/issues/129
  it.each([
    ['the shorter first', allOf(second, minute), 1],
    ['the longer first', allOf(minute, second), 0],
  ])('OA-06: a refusal by one part charges no other, %s: 2, 2, 1 and 0 pass', (_, policy, minuteAt) => {
    const { limiter, clock } = bench(sync, policy)
    const passed = [0, 1_000, 2_000, 3_000].map((ms) => (clock.set(ms), admitted(limiter, 'k', 10)))
    expect(passed).toEqual([2, 2, 1, 0])
    expect(limiter.consume('k')).toMatchObject({ allowed: false, refusedBy: minuteAt, remaining: 0, retryAfterMs: 57_000, resetAfterMs: 57_000 })
    // The second that begins at 3,000 has been charged nothing: with the minute over, both of its calls are there.
    clock.set(60_000)
    expect(admitted(limiter, 'k', 10)).toBe(2)
  })

  // https://github.com/pubky/pubky-homeserver/pull/548
  it('RA-07: of several parts that refuse the longest wait is told, 59,500, and the telling charges nothing (G2)', () => {
    const policy = allOf(fixedWindow({ limit: 1, windowMs: 1_000 }), fixedWindow({ limit: 1, windowMs: 60_000 }), tokenBucket({ limit: 100, periodMs: 1_000 }))
    const { limiter, clock } = bench(sync, policy)
    expect(limiter.allow('k')).toBe(true)
    clock.set(500)
    for (let call = 0; call < 200; call++) expect(limiter.consume('k')).toMatchObject({ allowed: false, refusedBy: 1, retryAfterMs: 59_500 })
    clock.set(59_999)
    expect(limiter.consume('k')).toMatchObject({ allowed: false, refusedBy: 1, retryAfterMs: 1 })
    clock.set(60_000)
    expect(limiter.consume('k')).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('a cost above the least burst of the parts is never, by the part that has it, and costs nothing', () => {
    const { limiter } = bench(sync, allOf(slidingWindowCounter({ limit: 10, windowMs: 1_000 }), slidingWindowLog({ limit: 3, windowMs: 1_000 })))
    expect(limiter.consume('k', 4)).toMatchObject({ allowed: false, refusedBy: 1, retryAfterMs: Infinity, remaining: 3 })
    expect(admitted(limiter, 'k', 10)).toBe(3)
  })
})
