// Tasks of the pool: all share the limiter that came as workerData.
import { workerData } from 'node:worker_threads'
import { RateLimiter } from 'hotbucket'

const limiter = RateLimiter.attach(workerData.handle)

/** How many of `times` calls are allowed. */
export function spend({ key, times }) {
  let allowed = 0
  for (let at = 0; at < times; at++) if (limiter.allow(key)) allowed++
  return allowed
}

/** Spends for ever, from its first call on saying so; only an abort ends it. */
export function hammer({ key, gate }) {
  const started = new Int32Array(gate)
  for (;;) {
    limiter.allow(key)
    Atomics.store(started, 0, 1)
    Atomics.notify(started, 0)
  }
}

/** Says that it ran. */
export function mark({ counter }) {
  return Atomics.add(new Int32Array(counter), 0, 1)
}
