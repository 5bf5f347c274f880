/** One worker of a crew: does one job after another, each behind a gate of its own. */
import { parentPort } from 'node:worker_threads'
import { broken } from '../twins/faults.mjs'
import { Gate } from './gate.mjs'
import * as jobs from './jobs.mjs'

parentPort.on('message', ({ job, data, index, size, gate, fault }) => {
  const mend = broken(fault)
  try {
    const result = jobs[job]({ ...data, index, size, fault, gate: new Gate(gate, size) })
    parentPort.postMessage({ result })
  } catch (error) {
    parentPort.postMessage({ error: error.stack })
  } finally {
    mend()
  }
})
parentPort.postMessage('ready')
