/** Makes every kind of limiter, calls it once, and returns: nothing may keep the process, or the thread, alive. */
import { fixedWindow, RateLimiter, tokenBucket } from 'hotbucket'

for (const sync of ['cas', 'mutex']) {
  for (const policy of [tokenBucket({ limit: 1, periodMs: 1_000 }), fixedWindow({ limit: 1, windowMs: 1_000 })]) {
    const limiter = new RateLimiter({ policy, sync })
    RateLimiter.attach(limiter.handle).allow('k')
    limiter.sweep()
  }
}
console.log('done')
