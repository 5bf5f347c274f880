/**
 * Takes the lock of the key's slot in the ordinary way and stops there for ever: before the state is written, or
 * after. Its own `Atomics` tell it where it is.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { RateLimiter } from 'hotbucket'

const { handle, where } = workerData
const limiter = RateLimiter.attach(handle)
// A first call makes the bucket, so that the next one goes straight to its slot.
limiter.allow('K')
const { compareExchange, wait } = Atomics
const never = new Int32Array(new SharedArrayBuffer(4))
Atomics.compareExchange = (cells, at, expected, replacement) => {
  const onState = cells instanceof BigInt64Array
  if (onState && where === 'before') hold()
  const seen = compareExchange(cells, at, expected, replacement)
  if (onState && where === 'after') hold()
  return seen
}

function hold() {
  parentPort.postMessage('holding')
  wait(never, 0, 0)
}

limiter.allow('K')
