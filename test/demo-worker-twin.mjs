// A broken twin of the demo's worker: each worker makes a limiter of its own instead of attaching to the shared one.
import { workerData } from 'piscina'
import { RateLimiter, SharedClock, tokenBucket } from 'hotbucket'

const { handle, limit, periodMs } = workerData
const limiter = new RateLimiter({ policy: tokenBucket({ limit, periodMs }), clock: new SharedClock(handle.clock) })

export default ({ client }) => {
  const admitted = limiter.allow(client)
  return { admitted, mapAdmitted: admitted, retryAfterMs: 0, body: '' }
}
