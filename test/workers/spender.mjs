/**
 * Spends on the hot key and shows after each call how often it was allowed. The control cell says what to do:
 * 0 go on, 1 pause, 2 end.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { RateLimiter } from 'hotbucket'
import { broken } from '../twins/faults.mjs'

const { handle, counts, at, control, fault } = workerData
const limiter = RateLimiter.attach(handle)
const { load, store, wait } = Atomics
broken(fault)
parentPort.postMessage('ready')
for (let allowed = 0; load(control, 0) !== 2; ) {
  wait(control, 0, 1)
  if (limiter.allow('hot')) store(counts, at, ++allowed)
}
