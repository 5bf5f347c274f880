/** A worker that comes, calls three times, and goes. */
import { workerData } from 'node:worker_threads'
import { RateLimiter } from 'hotbucket'

const limiter = RateLimiter.attach(workerData)
limiter.allow('hot')
limiter.consume('hot')
limiter.allow('drained')
