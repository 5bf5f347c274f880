/** One thread of the stress run: takes part in one round after another. */
import { parentPort } from 'node:worker_threads'
import { broken } from '../twins/faults.mjs'
import * as acts from './acts.mjs'

parentPort.on('message', (round) => {
  if (round === 'end') return parentPort.close()
  const mend = broken(round.fault)
  try {
    parentPort.postMessage({ result: acts[round.gated ? 'gated' : 'free'](round) })
  } catch (error) {
    parentPort.postMessage({ error: error.stack })
  } finally {
    mend()
  }
})
parentPort.postMessage('ready')
