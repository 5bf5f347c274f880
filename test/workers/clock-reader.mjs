/** Reads the default clock by way of the package's own module, when asked. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../dist/clock/clock.js'

parentPort.on('message', () => parentPort.postMessage({ readMs: systemClock.nowMs() }))
parentPort.postMessage('ready')
