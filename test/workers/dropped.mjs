/** Makes arenas of a megabyte, has each attached in one worker, drops them, and prints the most memory it held. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RateLimiter, tokenBucket } from 'hotbucket'

const policy = tokenBucket({ limit: 1, periodMs: 1_000 })
const worker = new Worker(new URL('crew.mjs', import.meta.url))
await once(worker, 'message')
let [most, made] = [0, 0]
for (let arena = 0; arena < Number(process.argv[2]); arena++) {
  const { handle } = new RateLimiter({ policy, maxKeys: 40_000 })
  const bytes = new Uint8Array(handle.buffer)
  // Each page written, so that it is real.
  for (let at = 0; at < bytes.length; at += 4_096) bytes[at] = bytes[at]
  made += bytes.length
  worker.postMessage({ job: 'callOnce', data: { handle, key: 'k' }, index: 0, size: 1, gate: new SharedArrayBuffer(8) })
  await once(worker, 'message')
  if (arena % 50 === 0) most = Math.max(most, process.memoryUsage.rss())
}
await worker.terminate()
console.log(JSON.stringify({ most, made }))
