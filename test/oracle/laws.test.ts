/**
 * The five laws that every algorithm obeys, on random policies in random states. Asserted by Node's `assert`: `expect`
 * takes longer than the calls it is asked about.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Facts } from '../../src/arithmetic/algorithm.ts'
import { FACT, FACTS, REFUSED_STEP } from '../../src/arithmetic/algorithm.ts'
import { headOf, HEADS } from '../../src/arithmetic/sliding-window-log.ts'
import { termsOf } from '../../src/arithmetic/compile.ts'
import type { Bench, Engine } from '../engines.ts'
import { bench, engines } from '../engines.ts'
import type { Trial } from './registry.ts'
import { registry } from './registry.ts'
import type { Move } from './timeline.ts'
import { play, seed, timeline } from './timeline.ts'

const settings = { seed, numRuns: 100 }

interface Walk {
  readonly trial: Trial
  readonly before: Move[]
  readonly after: Move[]
  readonly startMs: number
}

function walks(trial: fc.Arbitrary<Trial>): fc.Arbitrary<Walk> {
  return trial.chain((each) =>
    fc.record({ trial: fc.constant(each), before: timeline(each, 30), after: timeline(each, 30), startMs: fc.nat({ max: 10_000_000 }) }),
  )
}

/** What the moves are answered. */
function answers({ limiter, clock }: Bench, trial: Trial, moves: readonly Move[]): unknown[] {
  return moves.map((move) => {
    clock.advance(move.ms)
    return play(limiter, trial, move)
  })
}

function walked(sync: Engine, { trial, before, startMs }: Walk): Bench {
  const subject = bench(sync, trial.policy, { startMs, maxKeys: trial.slots })
  answers(subject, trial, before)
  // A call of cost 0 need not read the clock; both benches of a comparison have read it.
  subject.limiter.peek('k')
  return subject
}

describe.each(registry)(`$name under ${engines.join(' and ')}`, ({ trial }) => {
  const law = (claim: string, check: (walk: Walk, sync: Engine) => void) =>
    it(claim, () => fc.assert(fc.property(walks(trial), (walk) => engines.forEach((sync) => check(walk, sync))), settings))

  law('a refusal changes nothing that decides a later call (G2)', (walk, sync) => {
    const [asked, unasked] = [walked(sync, walk), walked(sync, walk)]
    const { remaining } = asked.limiter.peek('k')
    for (let call = 0; call < 20; call++) assert.equal(asked.limiter.allow('k', remaining + 1 + call), false)
    assert.deepEqual(answers(asked, walk.trial, walk.after), answers(unasked, walk.trial, walk.after))
  })

  law('an older now adds nothing and takes nothing (G9)', (walk, sync) => {
    const { limiter, clock } = walked(sync, walk)
    const { remaining } = limiter.peek('k')
    for (const back of [1, 2, 1_000, walk.trial.periodMs]) {
      clock.advance(-back)
      assert.equal(limiter.peek('k').remaining, remaining)
      assert.equal(limiter.allow('k', remaining + 1), false)
    }
    assert.equal(remaining === 0 || limiter.allow('k', remaining), true)
    assert.equal(limiter.peek('k').remaining, 0)
  })

  law('is denied at every tick before the wait is over, and allowed at it (G10)', (walk, sync) => {
    const { limiter, clock } = walked(sync, walk)
    for (const cost of [1, limiter.peek('k').remaining + 1, walk.trial.burst]) {
      const wait = limiter.retryAfterMs('k', cost)
      if (wait === Infinity) assert.ok(cost > walk.trial.burst)
      if (wait === Infinity || cost === 0) continue
      // Every tick of a short wait; of a long one the first, the last, and some between.
      const ticks = Array.from({ length: Math.min(wait, 150) }, (_, i) => (wait <= 150 ? i : i < 50 ? i : i < 100 ? wait - (i - 49) : Math.floor((wait * (i - 99)) / 52)))
      const now = clock.nowMs()
      for (const tick of ticks.sort((a, b) => a - b)) {
        clock.set(now + tick)
        assert.equal(limiter.allow('k', cost), false)
      }
      clock.set(now + wait)
      assert.equal(limiter.allow('k', cost), true)
    }
  })

  law('is full when the time until full is over, and not before (G10)', (walk, sync) => {
    const { limiter, clock } = walked(sync, walk)
    const wait = limiter.peek('k').resetAfterMs
    if (wait > 0) {
      clock.advance(wait - 1)
      assert.equal(limiter.peek('k').resetAfterMs, 1)
      // Of several limits some may be full by now; the last is not.
      limiter.sweep()
      assert.ok(limiter.stats().keys > 0)
      clock.advance(1)
    }
    const { remaining, resetAfterMs } = limiter.peek('k')
    assert.deepEqual([remaining, resetAfterMs], [walk.trial.burst, 0])
    limiter.sweep()
    assert.equal(limiter.stats().keys, 0)
  })

  law('cost 0 succeeds and changes nothing', (walk, sync) => {
    const [asked, unasked] = [walked(sync, walk), walked(sync, walk)]
    for (let call = 0; call < 10; call++) {
      assert.equal(asked.limiter.allow('k', 0), true)
      const { allowed, retryAfterMs } = asked.limiter.consume('k', 0)
      assert.deepEqual([allowed, retryAfterMs], [true, 0])
    }
    assert.deepEqual(answers(asked, walk.trial, walk.after), answers(unasked, walk.trial, walk.after))
  })
})

describe.each(registry)('$name, the arithmetic alone', ({ trial }) => {
  it('takes the zeroed state for a full one, at any time (G5)', () => {
    const times = fc.record({ trial, bornMs: fc.nat({ max: 10_000_000 }), laterMs: fc.nat({ max: 2_000_000_000 }) })
    fc.assert(
      fc.property(times, ({ trial: { policy, burst }, bornMs, laterMs }) => {
        let remaining = Infinity
        for (const terms of termsOf(policy, bornMs)) {
          const { algorithm } = terms
          const now = algorithm.reading(terms, bornMs + laterMs)
          // Of a log, the memory room says that it has no records.
          const facts: Facts = new Float64Array(FACTS)
          facts[FACT.newest] = facts[FACT.oldest] = -Infinity
          const outlook = { remaining: -1, retryAt: -1, resetAt: -1 }
          assert.equal(algorithm.isFull(0, terms, now, facts), true)
          algorithm.describe(0, terms, now, 0, outlook, facts)
          remaining = Math.min(remaining, outlook.remaining)
          assert.ok(outlook.resetAt <= now)
        }
        assert.equal(remaining, burst)
      }),
      settings,
    )
  })
})

it.each([
  { algorithm: 'fixed-window', limit: 5, windowMs: 10 },
  { algorithm: 'fixed-window', limit: 5, windowMs: 10, anchored: 'first' },
  { algorithm: 'sliding-window-counter', limit: 5, windowMs: 10 },
])('$algorithm $anchored: a refund takes nothing back from a window that began after its reading (G1)', (policy) => {
  const terms = termsOf(policy, 0)[0]!
  const { algorithm } = terms
  const facts: Facts = new Float64Array(FACTS)
  const [earlier, later] = [algorithm.reading(terms, 9), algorithm.reading(terms, 10)]
  const charged = algorithm.spend(algorithm.fresh(terms, later), terms, later, 2, facts)
  expect(algorithm.refund(charged, terms, earlier, 1, facts)).toBe(REFUSED_STEP)
  expect(algorithm.refund(charged, terms, later, 1, facts)).toBe(algorithm.spend(algorithm.fresh(terms, later), terms, later, 1, facts))
})

it('sliding-window-log: a refund takes nothing back once a whole window has passed since its reading (G1)', () => {
  const terms = termsOf({ algorithm: 'sliding-window-log', limit: 5, windowMs: 10 }, 0)[0]!
  const { algorithm } = terms
  const facts: Facts = new Float64Array(FACTS)
  facts[FACT.used] = 2
  facts[FACT.newest] = algorithm.reading(terms, 20)
  expect(algorithm.refund(2 * HEADS + 2, terms, algorithm.reading(terms, 10), 1, facts)).toBe(REFUSED_STEP)
  expect(headOf(algorithm.refund(2 * HEADS + 2, terms, algorithm.reading(terms, 11), 1, facts))).toBe(1)
})
