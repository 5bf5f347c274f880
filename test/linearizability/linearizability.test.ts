/**
 * Real threads, answered as one thread after another would be: every history has an order of its calls that
 * explains it (G1, G2, G3, G9).
 *
 * The log is asked for no peek, refund or reset while the clock moves: to an older reading a unit that was given back is
 * there still, and what it spends is recorded as of the newer one. `allOf` has no order where it refuses: it looks at all parts, charges them in turn, and gives back.
 * Its totals are exact.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy } from '../../src/index.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { engines } from '../engines.ts'
import { seed } from '../oracle/timeline.ts'
import type { Event } from './history.ts'
import { fault } from './history.ts'
import type { Recording } from './recorders.ts'
import { Recorders } from './recorders.ts'
import type { Machine } from './sequential.ts'
import { fixedWindowMachine, slidingCounterMachine, slidingLogMachine, tokenBucketMachine } from './sequential.ts'

interface Subject {
  readonly name: string
  readonly policy: Policy
  readonly machine: Machine
  readonly verbs: readonly Event['verb'][]
}

const every = ['allow', 'allow', 'allow', 'consume', 'peek', 'refund', 'reset'] as const
const bucket = { limit: 3, periodMs: 30, burst: 4 }
const window = { limit: 4, windowMs: 30 }
const subjects: readonly Subject[] = [
  { name: 'token bucket', policy: tokenBucket(bucket), machine: tokenBucketMachine(bucket), verbs: every },
  { name: 'fixed window', policy: fixedWindow(window), machine: fixedWindowMachine(window), verbs: every },
  { name: 'sliding window counter', policy: slidingWindowCounter(window), machine: slidingCounterMachine(window), verbs: every },
  // `consume` tells what remains by a second look, which is a call of its own.
  { name: 'sliding window log', policy: slidingWindowLog(window), machine: slidingLogMachine(window), verbs: every.filter((verb) => verb !== 'consume') },
]

/** Histories of each kind: an algorithm, a sync, a number of threads, a way of ticking. */
const COUNT = 70
const BATCH = 100
const MOST = 5_000
let recorders: Recorders
beforeAll(async () => void (recorders = await Recorders.of(4)))
afterAll(() => recorders[Symbol.asyncDispose]())

const faults = async (machine: Machine, recording: Recording) =>
  (await recorders.record(recording)).map((events) => fault(machine, events)).filter((found) => found !== undefined)

describe.each(engines)('%s', (sync) => {
  describe.each(subjects)('$name', ({ policy, machine, verbs }) => {
    it.each([2, 3, 4])(`%i threads answer ${2 * COUNT} histories as one thread could, clock ticks between rounds and at any moment`, async (threads) => {
      for (const freeTicks of [false, true]) {
        const asked = freeTicks && machine.refusesLate ? verbs.filter((verb) => verb === 'allow') : verbs
        expect(await faults(machine, { sync, policy, verbs: asked, freeTicks, threads, count: COUNT, seed })).toEqual([])
      }
    })

    it('of the load/store twin some history has no order', async () => {
      for (let batch = 0; batch * BATCH < MOST; batch++) {
        const recording = { sync, policy, verbs, freeTicks: batch % 2 === 1, threads: 3, count: BATCH, seed: seed + 4 * batch, fault: 'load-store' }
        const histories = await recorders.record(recording)
        const first = histories.findIndex((events) => fault(machine, events) !== undefined)
        if (first < 0) continue
        console.info(`${sync}, ${policy.algorithm}: the load/store twin is caught in history ${batch * BATCH + first + 1}`)
        return
      }
      expect.unreachable(`not caught in ${MOST} histories`)
    })
  })
})
