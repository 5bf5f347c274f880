/** Engine and oracle on the same random timelines: every decision, remaining and wait the same (G2, G9, G10, G11). */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bench, engines } from '../engines.ts'
import { TruncatingBucket } from '../twins/truncating-bucket.ts'
import type { Trial } from './registry.ts'
import { registry } from './registry.ts'
import type { Move } from './timeline.ts'
import { seed, timeline } from './timeline.ts'

const STEPS = 100_000
const LONGEST = 400
/** Lengths are spread evenly from 1 to the longest: twice the least number of runs gives the steps with room to spare. */
const RUNS = (4 * STEPS) / LONGEST

type Run = [trial: Trial, startMs: number, moves: Move[]]

const runsOf = (trial: fc.Arbitrary<Trial>): fc.Arbitrary<Run> =>
  trial.chain((each) => fc.tuple(fc.constant(each), fc.nat({ max: 10_000_000 }), timeline(each, LONGEST)))

for (const sync of engines) {
  describe.each(registry)(`$name under ${sync}`, ({ name, trial }) => {
    it(`answers as the exact rational policy does, ${STEPS} random steps long (G11)`, () => {
      let steps = 0
      const agree = ([{ policy, oracle, slots }, startMs, moves]: Run): void => {
        const reference = oracle(startMs)
        const { limiter, clock } = bench(sync, policy, { startMs, maxKeys: slots })
        let ms = startMs
        for (const { ms: by, cost, verb } of moves) {
          steps++
          clock.set((ms += by))
          if (verb === 'allow') {
            // A call of cost 0 does not even read the clock.
            expect(limiter.allow('k', cost)).toBe(cost === 0 || reference.consume(ms, cost).allowed)
            continue
          }
          const { allowed, remaining, retryAfterMs, resetAfterMs } = limiter[verb]('k', cost)
          const wanted = reference[verb](ms, cost)
          // `expect` is slow; it is asked only for the message.
          const same = allowed === wanted.allowed && remaining === wanted.remaining && retryAfterMs === wanted.retryAfterMs
          if (same && resetAfterMs === wanted.resetAfterMs) continue
          expect({ ms, verb, cost, allowed, remaining, retryAfterMs, resetAfterMs }).toEqual({ ms, verb, cost, ...wanted })
        }
      }
      fc.assert(fc.property(runsOf(trial), agree), { seed, numRuns: RUNS })
      console.info(`${name} under ${sync}: ${steps} steps`)
      expect(steps).toBeGreaterThanOrEqual(STEPS)
    })
  })
}

it('the same timelines catch a bucket that truncates fractions at each poll', () => {
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
