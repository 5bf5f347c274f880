// Seven calls in a thread that then is gone.
import { workerData } from 'node:worker_threads'
import { RateLimiter } from 'hotbucket'

const limiter = RateLimiter.attach(workerData)
for (let at = 0; at < 7; at++) limiter.allow('one')
