/** What a round is made of: an algorithm with the most that it may admit, and a scenario. */
import { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from 'hotbucket'

const bucketMost = (limit, periodMs, { ms }) => limit + Math.floor((ms * limit) / periodMs)
const windowMost = (limit, _periodMs, { edges }) => limit * (1 + edges)
const logMost = (limit, periodMs, { ms }) => limit * (1 + Math.floor(ms / periodMs))

/**
 * `most` is what one key may be admitted, with what is left of it at the end, while the clock rose by `ms` (of each
 * rise no more counted than a period, which fills any bucket) over `edges` rises that crossed a window's edge.
 * `doubled` is the policy that takes turns with `policy` where policies change; it admits at most `doubling` times as much.
 */
export const algorithms = [
  { name: 'token bucket', policy: (limit, periodMs) => tokenBucket({ limit, periodMs }), most: bucketMost, doubling: 2, parts: 1 },
  { name: 'fixed window', policy: (limit, windowMs) => fixedWindow({ limit, windowMs }), most: windowMost, doubling: 2, parts: 1 },
  { name: 'sliding window counter', policy: (limit, windowMs) => slidingWindowCounter({ limit, windowMs }), most: windowMost, doubling: 2, parts: 1 },
  {
    name: 'sliding window log',
    policy: (limit, windowMs) => slidingWindowLog({ limit, windowMs }),
    // The limit of a live log cannot change.
    doubled: (limit, windowMs) => slidingWindowLog({ limit, windowMs: 2 * windowMs }),
    most: logMost,
    doubling: 1,
   
    parts: 1,
  },
  {
    name: 'all of bucket and window',
    policy: (limit, ms) => allOf(tokenBucket({ limit, periodMs: ms }), fixedWindow({ limit, windowMs: ms })),
    most: (...given) => Math.min(bucketMost(...given), windowMost(...given)),
    doubling: 2,
   
    // It looks at all parts, charges them in turn, and gives back: it may refuse what would have fitted.
    refusesEarly: true,
    parts: 2,
  },
].map((algorithm) => ({ doubled: (limit, ms) => algorithm.policy(2 * limit, ms), ...algorithm }))

/**
 * Gated rounds go by epochs in which the clock stands: each key's remaining falls by exactly what was admitted, less
 * what was given back. In the others the clock moves at any moment and the bounds hold. `keys` 0 stands for four times
 * the slots.
 */
export const scenarios = [
  { name: 'hot key', gated: true, keys: 1, limit: 300 },
  { name: 'Zipf', gated: true, keys: 200, limit: 20, zipf: true },
  { name: 'churn', gated: true, keys: 0, maxKeys: 64, limit: 5, tickMs: 1_500 },
  { name: 'full table', gated: true, keys: 0, maxKeys: 16, limit: 3, tickMs: 40, wantsFull: true },
  { name: 'refunds', gated: true, keys: 20, limit: 50, zipf: true, refunds: true },
  { name: 'moving clock', keys: 4, limit: 100, drained: true },
  { name: 'clock jumps', keys: 20, limit: 20, zipf: true, jumps: true },
  { name: 'policies renewed', keys: 4, limit: 20, policies: 'renewed' },
  { name: 'policies changed', keys: 20, limit: 20, zipf: true, policies: 'changed' },
  { name: 'kills', keys: 4, limit: 100, drained: true, kills: true },
  { name: 'everything', keys: 0, maxKeys: 32, limit: 10, zipf: true, refunds: true, jumps: true, policies: 'changed', kills: true, sweeps: true },
]

export const PERIOD_MS = 1_000
/** A burst and a period so long that a bucket that began empty never fills in a round. */
export const ENDLESS = 100_000_000
