// A broken twin of the live page's worker: each worker makes a limiter of its own instead of attaching to the shared one.
import { threadId } from 'node:worker_threads'
import { workerData } from 'piscina'
import { RateLimiter, SharedClock } from 'hotbucket'

const { handle } = workerData
const limiter = new RateLimiter({ tiers: handle.tiers, clock: new SharedClock(handle.clock) })

export default ({ key, tier }) => {
  const admitted = key !== undefined && limiter.tier(tier).allow(key)
  return { worker: threadId, admitted, mapAdmitted: admitted }
}
