/**
 * The other algorithms on one hot key, every call admitted and so every call a write. No window that a counter or a log
 * can hold is as short as the time in which they are called so often, so theirs is the default clock, 10,000 times as
 * fast: a subtraction and a multiplication more than the floor's.
 */
import { systemClock } from '../dist/clock/clock.js'
import { fixedWindow, RateLimiter, slidingWindowCounter, slidingWindowLog } from '../dist/index.js'

const SPEED = 10_000

const fastClock = (baseMs) => ({ nowMs: () => (systemClock.nowMs() - baseMs) * SPEED })

const policies = {
  'fixed-window': ['fixed window', fixedWindow({ limit: 2_000_000_000, windowMs: 3_600_000 }), () => systemClock],
  'sliding-window-counter': ['sliding window counter', slidingWindowCounter({ limit: 4_000, windowMs: 1_000 }), fastClock],
  'sliding-window-log': ['sliding window log, limit 100', slidingWindowLog({ limit: 100, windowMs: 10 }), fastClock],
}

export const algorithmSubjects = Object.entries(policies).map(([id, [label, policy, clockFrom]]) => ({
  id,
  label: `hotbucket cas, ${label}`,
  share() {
    const baseMs = systemClock.nowMs() - 1
    return { baseMs, handle: new RateLimiter({ policy, clock: clockFrom(baseMs) }).handle }
  },
  open({ baseMs, handle }) {
    const limiter = RateLimiter.attach(handle, { clock: clockFrom(baseMs) })
    return { call: (key) => limiter.allow(key) }
  },
}))
