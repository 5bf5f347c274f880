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
  'two threads meet a new key, plain reads as turns': { ...none, slots: 3, burst: 2, threads: [['x'], ['x']], plain: 'turns' },
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
  'a spend stalled across reclaim and re-tenancy': { slots: 1, burst: 2, before: [[90, 'x']], threads: [['x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, kills: 1 },
  'a sweep against a call whose reading is old': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], [SWEEP]], times: [99, 100, 101], mayBeFull: true, kills: 1 },
  'a near cache outlived by its slot': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], ['y']], times: [99, 100, 111], mayBeFull: true, cached: true, plain: 'turns', bound: 3, deep: Infinity },
  'a publication stalled across the return of the key before': { slots: 2, burst: 2, before: [[90, 'x'], [95, 'z']], threads: [['y'], ['x', 'x']], times: [100, 101, 106], mayBeFull: true },
  'two keys for one slot within one tick': { ...none, slots: 1, burst: 1, threads: [['x'], ['y']], mayBeFull: true },
  'insertion, spend and reclaim of one slot by three': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], ['y'], ['z']], times: [100, 101], mayBeFull: true, bound: 2, deep: 4 },
  'three keys for two slots': { slots: 2, burst: 1, before: [[90, 'x'], [90, 'w']], threads: [['x', 'y'], ['y'], ['z']], times: [100, 111], mayBeFull: true, bound: 1, deep: 3 },
  'a sweep against insertion and spend': { slots: 2, burst: 2, before: [[90, 'x'], [95, 'z']], threads: [['x', 'y'], [SWEEP, SWEEP]], times: [99, 100, 105], mayBeFull: true, kills: 1 },
  'a sweep against two insertions': { slots: 2, burst: 2, before: [[90, 'x']], threads: [['x'], [SWEEP], ['y']], times: [100, 101], mayBeFull: true, bound: 2, deep: 4 },
} satisfies Record<string, Bounded>

/** Threads that give back. */
export const refunds = {
  'spends against refunds': { slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['-x', 'x']], times: [100, 105], plain: 'turns', kills: 1 },
  'a refund stalled across reclaim and re-tenancy': { slots: 1, burst: 2, before: [[90, 'x']], threads: [['-x', 'x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, bound: 3, deep: 5 },
  'a refund against a new key': { slots: 2, burst: 1, threads: [['x', '-x'], ['x', '-x']], times: [100, 101], bound: 2, deep: 4 },
  'spends against a reset': { slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['!x', 'x']], times: [100, 105], plain: 'turns', kills: 1 },
  'a reset stalled across reclaim and re-tenancy': { slots: 1, burst: 2, before: [[90, 'x']], threads: [['!x', 'x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, bound: 2, deep: 5 },
  'a reset against insertion and reclaim': { slots: 2, burst: 1, before: [[90, 'y']], threads: [['x', '!x'], ['x', 'y']], times: [99, 100], mayBeFull: true, bound: 2, deep: 4 },
  'three threads spend and refund': { ...none, slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', '-x'], ['-x', 'x'], ['x']], plain: 'turns' },
} satisfies Record<string, Bounded>

/** Threads on a sliding window log, whose ring lies beside its slot. */
export const logs = {
  'two threads on one log': { ...none, algorithm: 'log', slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']], kills: 1 },
  'two threads on one log while its window rolls': { algorithm: 'log', slots: 1, burst: 2, before: [[95, 'x'], [100, 'x']], threads: [['x', 'x'], ['x']], times: [100, 105, 110], kills: 1 },
  'three threads on one log': { algorithm: 'log', slots: 1, burst: 2, before: [[95, 'x']], threads: [['x'], ['x'], ['x']], times: [100, 105] },
  'a log read late, after others have moved on': { algorithm: 'log', slots: 1, burst: 2, before: [[95, 'x'], [100, 'x']], threads: [['x', 'x'], ['x', '-x', 'x']], times: [105, 110], late: { 0: 100 }, kills: 1, bound: 2, deep: 6 },
  'two threads read a log late while a third moves on': { algorithm: 'log', slots: 1, burst: 2, before: [[95, 'x'], [100, 'x']], threads: [['x'], ['x'], ['x', '-x', 'x']], times: [105, 110], late: { 0: 100, 1: 104 }, bound: 2, deep: 5 },
  'spends against refunds on one log': { algorithm: 'log', slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['-x']], times: [100, 110], kills: 1 },
  'two refunds against a spend on one log': { ...none, algorithm: 'log', slots: 1, burst: 3, before: [[100, 'x'], [100, 'x']], threads: [['x'], ['-x'], ['-x', 'x']], bound: 2, deep: 4 },
  'spends against a reset of one log': { ...none, algorithm: 'log', slots: 1, burst: 2, before: [[100, 'x'], [100, 'x']], threads: [['x', 'x'], ['!x', 'x']], kills: 1, bound: 3, deep: Infinity },
  'calls of several units against a refund on one log': { ...none, algorithm: 'log', slots: 1, burst: 3, before: [[100, 'x']], threads: [['2x', 'x'], ['2x', '-x']], kills: 1, bound: 4, deep: Infinity },
  'calls of several units on one log while its window rolls': { algorithm: 'log', slots: 1, burst: 2, before: [[95, 'x'], [100, 'x']], threads: [['2x', 'x'], ['x', '2x']], times: [100, 105, 110], kills: 1, bound: 3, deep: Infinity },
  'a call of two units against one on a log whose window has passed': { algorithm: 'log', slots: 1, burst: 3, before: [[90, 'x'], [90, 'x'], [90, 'x']], threads: [['2x'], ['x', 'x']], times: [100], kills: 1 },
  'calls of several units against a reset of one log': { ...none, algorithm: 'log', slots: 1, burst: 3, before: [[100, 'x']], threads: [['2x', 'x'], ['!x', '2x']], kills: 1, bound: 3, deep: Infinity },
  'two threads that know their log, one killed': { ...none, algorithm: 'log', slots: 1, burst: 3, before: [[90, 'x']], threads: [['x', 'x'], ['x']], cached: true, kills: 1, bound: 3, deep: Infinity },
  'two threads that know their log, spend and give back, one killed': { algorithm: 'log', slots: 1, burst: 2, before: [[100, 'x']], threads: [['x', '-x', 'x'], ['x', '-x']], times: [100, 110], cached: true, kills: 1, bound: 1, deep: 3 },
  'a sweep against a new key of a log': { ...none, algorithm: 'log', slots: 1, burst: 1, before: [[80, 'x']], threads: [['y'], [SWEEP]], kills: 1, bound: 2, deep: Infinity },
  'a log stalled across reclaim and re-tenancy': { algorithm: 'log', slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], ['y', 'x']], times: [99, 100, 111], mayBeFull: true, bound: 2, deep: 4 },
  'a call of two units against one that meets a refund on a log': { ...none, algorithm: 'log', slots: 1, burst: 3, before: [[100, 'x']], threads: [['-x', 'x'], ['2x', '-x']], bound: 3, deep: Infinity },
  'a sweep against a call on a log': { algorithm: 'log', slots: 1, burst: 1, before: [[90, 'x']], threads: [['x', 'x'], [SWEEP]], times: [99, 100, 101], mayBeFull: true, kills: 1 },
  'a call on a log stalled while others go round its ring': { algorithm: 'log', slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], ['x', 'x', 'x']], times: [100, 110, 120], late: { 0: 120 }, plain: 'turns', bound: 2, deep: 5 },
  'two threads meet a new log': { algorithm: 'log', slots: 2, burst: 1, threads: [['x'], ['x']], times: [100, 101], kills: 1, bound: 1, deep: 3 },
} satisfies Record<string, Bounded>

/**
 * A thread that sets the policy while others spend. A change is one call like any other: a call is made under the old
 * policy or the new one, and where one came after the other, none goes by the old one again. Killed, the change is made or not.
 */
export const policyChanges = {
  'the policy is raised while a thread spends, one killed': { slots: 1, burst: 2, before: [[100, 'x'], [100, 'x']], threads: [['=4'], ['x', 'x', 'x']], times: [100, 105], cached: true, kills: 1, mortal: [0], bound: 2, deep: Infinity },
  'the policy is raised while two threads spend, one killed': { ...none, slots: 1, burst: 2, before: [[100, 'x']], threads: [['=4'], ['x', 'x'], ['x', 'x']], cached: true, kills: 1, bound: 1, deep: 2 },
  'the policy is lowered while two threads meet a new key': { ...none, slots: 2, burst: 4, threads: [['=2'], ['x', 'x'], ['x']], bound: 1, deep: 2 },
  'the policy is lowered while two threads spend': { ...none, slots: 1, burst: 4, before: [[100, 'x'], [100, 'x']], threads: [['=2'], ['x', 'x'], ['x']], cached: true, bound: 2, deep: 4 },
  'the policy is raised while two threads spend': { ...none, slots: 1, burst: 2, before: [[100, 'x']], threads: [['=4'], ['x', 'x'], ['x', 'x']], cached: true, bound: 2, deep: 3 },
  'the policy is lowered while a thread spends, one killed': { slots: 1, burst: 4, before: [[100, 'x'], [100, 'x']], threads: [['=2'], ['x', 'x', 'x']], times: [100, 105], cached: true, kills: 1, mortal: [0], bound: 2, deep: Infinity },
  'the policy is lowered while a thread meets a new key': { ...none, slots: 1, burst: 4, threads: [['=2'], ['x', 'x', 'x']], cached: true },
  'the policy is raised by a thread that is killed': { ...none, slots: 1, burst: 1, before: [[90, 'x']], threads: [['=2'], ['x'], ['x']], cached: true, kills: 1, mortal: [0], bound: 1, deep: 2 },
  'who raises the policy spends too, another gives back': { ...none, slots: 1, burst: 1, before: [[90, 'x']], threads: [['=2', 'x'], ['-x'], ['x']], cached: true, bound: 2, deep: 3 },
  'two threads set the policy while a third spends': { ...none, slots: 1, burst: 4, before: [[100, 'x'], [100, 'x']], threads: [['=2'], ['=8'], ['x', 'x']], cached: true, bound: 1, deep: 3 },
} satisfies Record<string, Bounded>

/** Threads that charge two buckets at once, a token bucket and a fixed window. */
export const allOfs = {
  'two threads charge two buckets, the second lacks': { ...none, algorithm: 'both', slots: 1, burst: 3, windowLimit: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']] },
  'two threads charge two buckets, the first lacks': { ...none, algorithm: 'both', slots: 1, burst: 2, windowLimit: 3, before: [[100, 'x']], threads: [['x', 'x'], ['x']] },
  'two threads charge two buckets, one killed': { ...none, algorithm: 'both', slots: 1, burst: 3, windowLimit: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']], kills: 1 },
  'two threads charge two buckets while the window turns': { algorithm: 'both', slots: 1, burst: 3, windowLimit: 1, before: [[109, 'x']], threads: [['x', 'x'], ['x']], times: [109, 110], kills: 1 },
  'two threads charge a window and a bucket while the window turns': { algorithm: 'window-first', slots: 1, burst: 1, windowLimit: 2, before: [[91, 'x']], threads: [['x'], ['x', 'x']], times: [101, 111] },
  'two threads make two buckets': { ...none, algorithm: 'both', slots: 2, burst: 2, windowLimit: 1, threads: [['x'], ['x']], bound: 1, deep: 4 },
} satisfies Record<string, Bounded>

/** Threads on a sliding window counter as its window turns. */
export const counters = {
  'two threads on one counter while its window turns': { algorithm: 'counter', slots: 1, burst: 2, before: [[100, 'x'], [100, 'x']], threads: [['x', 'x'], ['x', 'x']], times: [109, 110, 115, 120], plain: 'turns', kills: 1 },
  'three threads on one counter while its window turns': { algorithm: 'counter', slots: 1, burst: 2, before: [[100, 'x'], [100, 'x']], threads: [['x', 'x'], ['x'], ['x']], times: [109, 115, 120] },
  'three threads on one counter over two turns': { algorithm: 'counter', slots: 1, burst: 3, before: [[100, 'x']], threads: [['x'], ['x', 'x'], ['-x', 'x']], times: [100, 110, 125] },
} satisfies Record<string, Bounded>

/**
 * Threads that may meet a generation again, where it has as few as `1 << bits` values: one call of x is stalled while
 * its slot is claimed `claims` times for other keys, each of which gives back what it spent, or leaves its log's window.
 */
export const wraps = (claims: number): Record<string, Bounded> => {
  const others = Array.from({ length: claims }, (_, i) => (i % 2 === 0 ? 'y' : 'z'))
  return {
    'a bucket that is given back within one tick': { ...none, slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], others.flatMap((key) => [key, `-${key}`])], mayBeFull: true, bound: 2, deep: 2 },
    'a log': { algorithm: 'log', slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], others], times: [100, ...others.map((_, i) => 111 + 11 * i)], mayBeFull: true, bound: 2, deep: 2 },
    'a bucket under a clock that goes on': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], others], times: [100, ...others.map((_, i) => 111 + 11 * i)], mayBeFull: true, bound: 2, deep: 2 },
  }
}

/**
 * Models that refute the code as it is. In the first the clock steps back: a thread that never saw the later time meets
 * a key whose bucket was rightly freed at it, and gets a full one (G9). In the second two keys steal one slot from each other, turn by turn, until their rounds are used up: a
 * log is committed before it is charged, so it is full in between.
 */
export const refuted = {
  'a clock that steps back between a sweep and the return of a key': { slots: 1, burst: 1, before: [[90, 'x']], threads: [['x'], [SWEEP]], times: [100, 95], mayBeFull: true },
  'two keys for one slot of a log within one tick': { ...none, algorithm: 'log', slots: 1, burst: 1, threads: [['x'], ['y']], mayBeFull: true },
} satisfies Record<string, Bounded>

/** Threads under `sync: 'mutex'`. Without time-outs a lost wake-up is a deadlock. */
export const mutexes = {
  'two threads at one lock': { ...none, slots: 1, mutex: true, burst: 4, before: [[100, 'x']], threads: [['x', 'x'], ['x', 'x']] },
  'three threads at one lock': { ...none, slots: 1, mutex: true, burst: 3, before: [[100, 'x']], threads: [['x'], ['x'], ['x']] },
  'three threads at one lock, its holder or a waiter killed': { ...none, slots: 1, mutex: true, burst: 3, before: [[100, 'x']], threads: [['x'], ['x'], ['x']], kills: 1, timeouts: 'idle' },
  'two threads at one lock, waits that time out at any moment': { slots: 1, mutex: true, burst: 2, before: [[100, 'x']], threads: [['x', 'x'], ['x']], times: [100, 110], kills: 1, timeouts: 'any' },
  'two threads meet a new key under locks': { slots: 2, mutex: true, burst: 2, threads: [['x', 'x'], ['x']], times: [100, 101], timeouts: 'any', bound: 2, deep: 6 },
} satisfies Record<string, Bounded>
