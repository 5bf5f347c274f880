/** A worker that makes the limiter, spends 3 of 5, posts the handle, and then holds its thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { RateLimiter, SharedClock, tokenBucket } from 'hotbucket'

const policy = tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 })
const limiter = new RateLimiter({ policy, sync: workerData, clock: new SharedClock() })
for (let call = 0; call < 3; call++) limiter.allow('k')
parentPort.postMessage(limiter.handle)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
