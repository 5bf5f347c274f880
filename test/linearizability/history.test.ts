/** The search itself: it explains what has an order, and only that. */
import { describe, expect, it } from 'vitest'
import type { Event } from './history.ts'
import { explained, fault } from './history.ts'
import { fixedWindowMachine, slidingCounterMachine, slidingLogMachine, tokenBucketMachine } from './sequential.ts'

const one = tokenBucketMachine({ limit: 1, periodMs: 10, burst: 1 })

function call(verb: Event['verb'], invoked: number, returned: number, answer?: Event['answer'], ms = 100, lastMs = ms): Event {
  return { thread: 0, verb, key: 'k', cost: 1, answer, invoked, returned, readings: [ms], lastMs }
}

describe('a search for an order of calls on a bucket of one token', () => {
  it('finds one where the calls overlap, and none where the refused one had returned first', () => {
    expect(explained(one, [call('allow', 0, 3, false), call('allow', 1, 2, true)])).toBe(true)
    expect(explained(one, [call('allow', 0, 1, false), call('allow', 2, 3, true)])).toBe(false)
  })

  it('finds none for two charges of one token, nor for a token lost', () => {
    expect(explained(one, [call('allow', 0, 3, true), call('allow', 1, 2, true)])).toBe(false)
    expect(explained(one, [call('allow', 0, 1, true), call('allow', 2, 3, false, 110)])).toBe(false)
    expect(explained(one, [call('allow', 0, 1, true), call('allow', 2, 3, true, 110)])).toBe(true)
  })

  it('puts a refund and a reset where they explain an answer', () => {
    for (const verb of ['refund', 'reset'] as const) {
      expect(explained(one, [call('allow', 0, 1, true), call(verb, 2, 5), call('allow', 3, 4, true)])).toBe(true)
      expect(explained(one, [call('allow', 0, 1, true), call('allow', 2, 3, true), call(verb, 4, 5)])).toBe(false)
    }
  })

  it('holds a call to the readings it made, and a reading to the ticks', () => {
    const tick = (invoked: number, returned: number): Event => ({ ...call('tick', invoked, returned), key: '', cost: 10, readings: [] })
    const start: Event = { ...call('start', 0, 0), key: '', cost: 0, readings: [] }
    expect(fault(one, [start, call('allow', 1, 2, true), tick(3, 4), call('allow', 5, 6, true, 110)])).toBeUndefined()
    expect(fault(one, [start, call('allow', 1, 2, true), tick(3, 4), call('allow', 5, 6, false, 100)])).toMatch(/never gave/)
    expect(fault(one, [start, call('allow', 1, 2, true), tick(3, 6), call('allow', 4, 5, false, 100)])).toBeUndefined()
    expect(fault(one, [start, call('allow', 1, 2, true, 110), tick(3, 4)])).toMatch(/never gave/)
  })
})

describe('one thread after another finds', () => {
  const window = { limit: 4, windowMs: 10 }
  it('the count of its window', () => {
    const machine = fixedWindowMachine(window)
    const used = machine.spend(machine.full, 105, 3)!
    expect([machine.remaining(used, 109), machine.remaining(used, 110)]).toEqual([1, 4])
    expect(machine.spend(used, 109, 2)).toBeUndefined()
  })

  it('the weighted count of the window before', () => {
    const machine = slidingCounterMachine(window)
    const used = machine.spend(machine.full, 105, 4)!
    expect([109, 110, 113, 115, 120].map((ms) => machine.remaining(used, ms))).toEqual([0, 0, 1, 2, 4])
  })

  it('the times in the log', () => {
    const machine = slidingLogMachine(window)
    const used = machine.spend(machine.spend(machine.full, 101, 1)!, 105, 3)!
    expect([110, 111, 114, 115].map((ms) => machine.remaining(used, ms))).toEqual([0, 1, 1, 4])
  })
})
