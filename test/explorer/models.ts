/**
 * The models: a few threads, a few calls each, one bucket of one to three slots. What is acceptable is said once
 * for all of them, in `plan.ts`: every answer and every token left is that of some order of the same calls one
 * after another, a call cut short by a kill charged or not; and no key has two slots that are not full. Where
 * `mayBeFull` is set the slots are fewer than the keys, and `table full` is an answer too.
 *
 * `bound` is the number of times an actor may be put aside though it could go on, where all schedules together
 * are too many for every run; `deep` is the same for a long run.
 */
import type { Plan } from './plan.ts'
import { SWEEP } from './plan.ts'

export interface Bounded extends Plan {
  readonly bound?: number
  readonly deep?: number
}

const none = { times: [100] } as const

/** Threads on one bucket. */
export const spends = {
  'two threads on one bucket': { ...none, slots: 1, burst: 3, before: [[100, 'x']], threads: [['x', 'x'], ['x', 'x']], plain: 'turns', kills: 1 },
  'two threads on one bucket, near caches, a refill between': { slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x', 'x']], times: [100, 110], cached: true, plain: 'turns', kills: 1 },
  'three threads on one bucket': { ...none, slots: 1, burst: 3, before: [[100, 'x']], threads: [['x', 'x'], ['x'], ['x']], plain: 'turns', kills: 1 },
} satisfies Record<string, Bounded>

/** Threads that meet a new key. */
export const insertions = {
  'two threads meet a new key': { slots: 2, burst: 2, threads: [['x'], ['x']], times: [100, 101] },
  'two threads meet a new key, one killed': { ...none, slots: 2, burst: 2, threads: [['x'], ['x']], kills: 1 },
  'two threads meet a new key, one killed, and a tick': { slots: 2, burst: 2, threads: [['x'], ['x']], times: [100, 101], kills: 1, bound: 2, deep: Infinity },
  'two threads meet a new key, plain reads as turns': { ...none, slots: 3, burst: 2, threads: [['x'], ['x']], plain: 'turns', bound: 2, deep: 3 },
  'two threads meet a new key while slots of others expire': { slots: 2, burst: 1, before: [[90, 'y'], [91, 'z']], threads: [['x', 'x'], ['x']], times: [100, 101, 110], mayBeFull: true, bound: 2, deep: 5 },
  'two threads meet a new key while a slot expires, one killed': { slots: 2, burst: 2, before: [[90, 'y'], [91, 'z']], threads: [['x'], ['x']], times: [100, 101], mayBeFull: true, kills: 1, bound: 2, deep: Infinity },
  'two threads meet a key whose own slot expires': { slots: 2, burst: 1, before: [[90, 'x'], [95, 'z']], threads: [['x', 'x'], ['x']], times: [99, 100, 105, 110], mayBeFull: true, kills: 1 },
  'two threads meet a new key in a group of two buckets': { slots: 10, burst: 2, threads: [['x', 'x'], ['x']], times: [100, 101], bound: 2, deep: 3 },
  'three threads meet a new key': { ...none, slots: 3, burst: 2, threads: [['x'], ['x'], ['x']], bound: 2, deep: 4 },
  'three threads meet a new key, one killed': { slots: 3, burst: 2, threads: [['x'], ['x'], ['x']], times: [100, 101], kills: 1, bound: 0, deep: 2 },
  'three threads meet a new key while a slot expires': { slots: 2, burst: 1, before: [[90, 'y'], [91, 'z']], threads: [['x'], ['x'], ['x']], times: [100, 101], mayBeFull: true, bound: 1, deep: 3 },
} satisfies Record<string, Bounded>

/** Threads that take a slot from each other. */
export const reclaims = {
  'a spend stalled across reclaim and re-tenancy': { slots: 1, burst: 2, before: [[90, 'x']], threads: [['x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, kills: 1, bound: 3, deep: Infinity },
  'a sweep against a call whose reading is old': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], [SWEEP]], times: [99, 100, 101], mayBeFull: true, kills: 1, bound: 4, deep: Infinity },
  'a near cache outlived by its slot': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], ['y']], times: [99, 100, 111], mayBeFull: true, cached: true, plain: 'turns', bound: 3, deep: 5 },
  'a publication stalled across the return of the key before': { slots: 2, burst: 2, before: [[90, 'x'], [95, 'z']], threads: [['y'], ['x', 'x']], times: [100, 101, 106], mayBeFull: true, bound: 3, deep: Infinity },
  'two keys for one slot within one tick': { ...none, slots: 1, burst: 1, threads: [['x'], ['y']], mayBeFull: true },
  'insertion, spend and reclaim of one slot by three': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], ['y'], ['z']], times: [100, 101], mayBeFull: true, bound: 2, deep: 4 },
  'three keys for two slots': { slots: 2, burst: 1, before: [[90, 'x'], [90, 'w']], threads: [['x', 'y'], ['y'], ['z']], times: [100, 111], mayBeFull: true, bound: 1, deep: 3 },
  'a sweep against insertion and spend': { slots: 2, burst: 2, before: [[90, 'x'], [95, 'z']], threads: [['x', 'y'], [SWEEP, SWEEP]], times: [99, 100, 105], mayBeFull: true, kills: 1, bound: 3, deep: Infinity },
  'a sweep against two insertions': { slots: 2, burst: 2, before: [[90, 'x']], threads: [['x'], [SWEEP], ['y']], times: [100, 101], mayBeFull: true, bound: 2, deep: 4 },
} satisfies Record<string, Bounded>

/** Threads that give back. */
export const refunds = {
  'spends against refunds': { slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['-x', 'x']], times: [100, 105], plain: 'turns', kills: 1, bound: 3, deep: Infinity },
  'a refund stalled across reclaim and re-tenancy': { slots: 1, burst: 2, before: [[90, 'x']], threads: [['-x', 'x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, bound: 3, deep: 5 },
  'a refund against a new key': { slots: 2, burst: 1, threads: [['x', '-x'], ['x', '-x']], times: [100, 101], bound: 2, deep: 4 },
  'three threads spend and refund': { ...none, slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', '-x'], ['-x', 'x'], ['x']], plain: 'turns', bound: 2, deep: 4 },
} satisfies Record<string, Bounded>

/** Threads on a sliding window log, whose ring lies beside its slot. */
export const logs = {
  'two threads on one log': { ...none, log: true, slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']], kills: 1, bound: 3, deep: Infinity },
  'two threads on one log while its window rolls': { log: true, slots: 1, burst: 2, before: [[95, 'x'], [100, 'x']], threads: [['x', 'x'], ['x']], times: [100, 105, 110], kills: 1, bound: 2, deep: Infinity },
  'three threads on one log': { log: true, slots: 1, burst: 2, before: [[95, 'x']], threads: [['x'], ['x'], ['x']], times: [100, 105], bound: 2, deep: 4 },
  'two threads meet a new log': { log: true, slots: 2, burst: 1, threads: [['x'], ['x']], times: [100, 101], kills: 1, bound: 2, deep: 4 },
} satisfies Record<string, Bounded>

/**
 * Models that refute the code as it is. In the first two a call's record is counted by a helper and taken back by a
 * refund before the call looks again: it finds neither and is charged twice (G2). In the third a call whose reading is
 * older than the log's present tenancy is refused, though at its own reading the tenancy before would have allowed it:
 * late, and never over (G9). In the first of all the clock steps back: a thread that never saw the later time meets a key whose bucket
 * was rightly freed at it, and gets a full one (G9).
 */
export const refuted = {
  'a clock that steps back between a sweep and the return of a key': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], [SWEEP]], times: [100, 95], mayBeFull: true },
  'spends against refunds on one log': { log: true, slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['-x']], times: [100, 110], kills: 1, bound: 2, deep: 5 },
  'two refunds against a spend on one log': { ...none, log: true, slots: 1, burst: 3, before: [[100, 'x'], [100, 'x']], threads: [['x'], ['-x'], ['-x', 'x']], bound: 2, deep: 4 },
  'a log stalled across reclaim and re-tenancy': { log: true, slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, bound: 2, deep: 4 },
} satisfies Record<string, Bounded>

/** Threads under `sync: 'mutex'`. Without time-outs a lost wake-up is a deadlock. */
export const mutexes = {
  'two threads at one lock': { ...none, slots: 1, mutex: true, burst: 4, before: [[100, 'x']], threads: [['x', 'x'], ['x', 'x']] },
  'three threads at one lock': { ...none, slots: 1, mutex: true, burst: 3, before: [[100, 'x']], threads: [['x'], ['x'], ['x']] },
  'three threads at one lock, its holder or a waiter killed': { ...none, slots: 1, mutex: true, burst: 3, before: [[100, 'x']], threads: [['x'], ['x'], ['x']], kills: 1, timeouts: 'idle' },
  'two threads at one lock, waits that time out at any moment': { slots: 1, mutex: true, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']], times: [100, 110], kills: 1, timeouts: 'any' },
  'two threads meet a new key under locks': { slots: 2, mutex: true, burst: 2, threads: [['x', 'x'], ['x']], times: [100, 101], timeouts: 'any', bound: 2, deep: 6 },
} satisfies Record<string, Bounded>
