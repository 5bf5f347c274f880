/** Changes of policy that a thread slept through. */
import { expect, it } from 'vitest'
import { fixedWindow, RateLimiter } from '../src/index.ts'
import { admitted, bench, engines } from './engines.ts'

const windowMs = 1_000

it.each(engines)('%s: a thread that slept through any number of changes obeys the last, though entries of the policy table come round', (sync) => {
  for (const changes of [1, 2, 62, 63, 64, 126]) {
    const { limiter } = bench(sync, fixedWindow({ limit: 100, windowMs }))
    const sleeper = RateLimiter.attach(limiter.handle)
    expect(sleeper.allow('k')).toBe(true)
    for (let change = 1; change < changes; change++) limiter.setPolicy('default', fixedWindow({ limit: 100, windowMs: windowMs + change }))
    limiter.setPolicy('default', fixedWindow({ limit: 10, windowMs }))
    // First by `allow`, which looks at no policy but its own.
    expect(admitted(sleeper, 'k', 200)).toBe(9)
    expect(sleeper.peek('k')).toMatchObject({ limit: 10, remaining: 0 })
  }
})
