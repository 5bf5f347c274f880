/**
 * The other algorithms on one hot key, every call admitted and so every call a write. No window that a counter or a log
 * can hold is as short as the time in which they are called so often, so their clock runs 10,000 times as fast; it costs
 * what the default one costs.
 */
import { fixedWindow, RateLimiter, slidingWindowCounter, slidingWindowLog } from '../dist/index.js'

const SPEED = 10_000
const reading = new BigInt64Array(1)
const halves = new Uint32Array(reading.buffer)
const hrtime = process.hrtime.bigint

function fastClock(baseMs) {
  return {
    nowMs() {
      reading[0] = hrtime()
      return ((halves[1] * 4_294_967_296 + halves[0]) * 1e-6 - baseMs) * SPEED
    },
  }
}

const policies = {
  'fixed-window': ['fixed window', fixedWindow({ limit: 2_000_000_000, windowMs: 3_600_000 })],
  'sliding-window-counter': ['sliding window counter', slidingWindowCounter({ limit: 4_000, windowMs: 1_000 })],
  'sliding-window-log': ['sliding window log, limit 100', slidingWindowLog({ limit: 100, windowMs: 1 })],
}

export const algorithmSubjects = Object.entries(policies).map(([id, [label, policy]]) => ({
  id,
  label: `hotbucket cas, ${label}`,
  share() {
    const baseMs = Number(hrtime()) * 1e-6 - 1
    return { baseMs, handle: new RateLimiter({ policy, clock: fastClock(baseMs) }).handle }
  },
  open({ baseMs, handle }) {
    const limiter = RateLimiter.attach(handle, { clock: fastClock(baseMs) })
    return { call: (key) => limiter.allow(key) }
  },
}))
