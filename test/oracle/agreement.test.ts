/** Engine and oracle on the same random timelines: every decision, remaining and wait the same (G2, G9, G10, G11). */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bench, engines } from '../engines.ts'
import { TruncatingBucket } from '../twins/truncating-bucket.ts'
import type { Answer } from './oracle.ts'
import type { Trial } from './registry.ts'
import { registry } from './registry.ts'
import type { Move } from './timeline.ts'
import { play, seed, timeline } from './timeline.ts'

const STEPS = 100_000
const LONGEST = 400
/** Lengths are spread evenly from 1 to the longest: half as many runs again as the mean asks for give the steps with room to spare. */
const RUNS = (3 * STEPS) / LONGEST

/** `expect` is slow; it is asked only for the message. */
function expectSame({ allowed, remaining, retryAfterMs, resetAfterMs, refusedBy }: Answer, wanted: Answer, call: object): void {
  const same = allowed === wanted.allowed && remaining === wanted.remaining && retryAfterMs === wanted.retryAfterMs
  if (same && resetAfterMs === wanted.resetAfterMs && refusedBy === wanted.refusedBy) return
  expect({ ...call, allowed, remaining, retryAfterMs, resetAfterMs, refusedBy }).toEqual({ ...call, ...wanted })
}

type Run = [trial: Trial, startMs: number, moves: Move[]]

const runsOf = (trial: fc.Arbitrary<Trial>): fc.Arbitrary<Run> =>
  trial.chain((each) => fc.tuple(fc.constant(each), fc.nat({ max: 10_000_000 }), timeline(each, LONGEST, { changes: true })))

describe.each(registry)(`$name under ${engines.join(' and ')}`, ({ name, trial }) => {
  it(`answers as the exact rational policy does, ${STEPS} random steps long (G11)`, () => {
    let steps = 0
    const agree = ([trial, startMs, moves]: Run): void => {
      if (steps >= STEPS) return
      const reference = trial.oracle(startMs)
      const subjects = engines.map((sync) => bench(sync, trial.policy, { startMs, maxKeys: trial.slots }))
      let ms = startMs
      for (const move of moves) {
        steps++
        ms += move.ms
        for (const { clock } of subjects) clock.set(ms)
        const { verb, cost } = move
        const given = subjects.map(({ limiter }) => play(limiter, trial, move))
        if (verb === 'refund' || verb === 'reset') reference[verb](ms, cost)
        else if (verb === 'setPolicy') reference.setPolicy(ms, trial.policies[move.change]!)
        else {
          // A call of cost 0 does not even read the clock.
          const wanted = verb === 'allow' ? cost === 0 || reference.consume(ms, cost).allowed : reference[verb](ms, cost)
          if (typeof wanted === 'boolean') for (const answer of given) assert.equal(answer, wanted)
          else for (const answer of given) expectSame(answer as Answer, wanted, { ms, verb, cost })
        }
      }
    }
    fc.assert(fc.property(runsOf(trial), agree), { seed, numRuns: RUNS })
    console.info(`${name} under ${engines.join(' and ')}: ${steps} steps each`)
    expect(steps).toBeGreaterThanOrEqual(STEPS)
  })
})

it('such timelines catch a bucket that truncates fractions at each poll', () => {
  const agree = ([trial, startMs, moves]: Run): boolean => {
    const reference = trial.oracle(startMs)
    const twin = new TruncatingBucket(trial, startMs)
    let ms = startMs
    return moves.every(({ ms: by, cost }) => twin.allow((ms += Math.max(0, by)), cost) === reference.consume(ms, cost).allowed)
  }
  const tokenBuckets = registry.find(({ name }) => name === 'token-bucket')!.trial
  const { failed, numRuns } = fc.check(fc.property(runsOf(tokenBuckets), agree), { seed, numRuns: RUNS, endOnFailure: true })
  expect(failed).toBe(true)
  expect(numRuns).toBeLessThan(RUNS)
})
