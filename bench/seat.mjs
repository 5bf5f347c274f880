/**
 * A worker in which one subject runs, alone in its isolate, so that no other subject spoils its compiled code. It
 * takes one turn at a time: waits at the shared gate if the turn has company, runs, and posts what it counted.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Histogram } from './histogram.mjs'
import { BATCH, source } from './keys.mjs'
import { bytesPerKey, garbagePerCall } from './memory.mjs'
import { subjectOf } from './subjects.mjs'

const { id, shape, shared, seat, gate, start, drawn, remote } = workerData
const hrtime = process.hrtime.bigint
const reading = new BigInt64Array(1)
const halves = new Uint32Array(reading.buffer)

const subject = remote === undefined ? await subjectOf(id) : { id }
const opened = remote === undefined ? subject.open(shared, shape) : undefined
const keys = source(shape, seat, drawn)
const openedAt = hrtime()
const totals = { calls: 0, admitted: 0 }

function runBatch(batch, call) {
  let admitted = 0
  for (let i = 0; i < batch.length; i++) if (call(batch[i])) admitted++
  totals.calls += batch.length
  totals.admitted += admitted
}

async function runBatchLater(batch, call) {
  let admitted = 0
  for (let i = 0; i < batch.length; i++) if (await call(batch[i])) admitted++
  totals.calls += batch.length
  totals.admitted += admitted
}

/** One task of tinybench is one batch; the keys of each are made in its hook, which is not timed. */
async function bench({ ms }) {
  const { Bench } = await import('tinybench')
  const bench = new Bench({ time: ms, iterations: 3, warmup: false, throws: true })
  const { call } = opened
  let batch = keys.next()
  const beforeEach = () => void (batch = keys.next())
  if (subject.later) bench.add(id, () => runBatchLater(batch, call), { beforeEach, async: true })
  else bench.add(id, () => runBatch(batch, call), { beforeEach, async: false })
  const [task] = subject.later ? await bench.run() : bench.runSync()
  return { ns: (task.result.latency.p50 * 1e6) / BATCH }
}

/**
 * Batches until `ms` after the start that all seats share, however late this one woke, so that they overlap. What
 * lies between batches, the making of keys, is told apart by `busyNs`.
 */
function loop({ ms }) {
  const { call } = opened
  const from = totals.calls
  const end = Atomics.load(start, 0) + BigInt(ms * 1_000_000)
  const begun = hrtime()
  let busy = 0n
  let now
  do {
    const batch = keys.next()
    const started = hrtime()
    runBatch(batch, call)
    now = hrtime()
    busy += now - started
  } while (now < end)
  return { calls: totals.calls - from, busyNs: Number(busy), ownNs: Number(now - begun), spanNs: Number(now - Atomics.load(start, 0)) }
}

function latency({ calls }) {
  const { call } = opened
  const histogram = new Histogram()
  for (let done = 0; done < calls; done += BATCH) {
    const batch = keys.next()
    let admitted = 0
    for (let i = 0; i < BATCH; i++) {
      const started = hrtime()
      if (call(batch[i])) admitted++
      reading[0] = hrtime() - started
      histogram.add(halves[0])
    }
    totals.calls += BATCH
    totals.admitted += admitted
  }
  return { counts: histogram.counts, max: histogram.max }
}

/** Meets every key once, so that no first meeting is measured where the shape has none. */
async function prime() {
  for (const batch of keys.all) {
    if (subject.later) await runBatchLater(batch, opened.call)
    else runBatch(batch, opened.call)
  }
  keys.all = []
}

const turns = {
  prime,
  bench,
  loop,
  latency,
  garbage: (turn) => garbagePerCall(subject, opened, keys, turn),
  bytes: (turn) => bytesPerKey(subject, shape, turn),
  pump: async (turn) => {
    const { pump } = await import('./remotes.mjs')
    const counted = await pump(remote, keys, turn)
    totals.calls += counted.calls
    totals.admitted += counted.admitted
    return counted
  },
}

parentPort.on('message', async (turn) => {
  try {
    if (shape.keys === 'new') opened?.renew?.()
    if (turn.gate !== undefined) {
      parentPort.postMessage({ ready: true })
      Atomics.wait(gate, 0, turn.gate)
    }
    const result = await turns[turn.kind](turn)
    const elapsedMs = Number(hrtime() - openedAt) / 1e6
    parentPort.postMessage({ result: { ...result, retries: opened?.retries?.() ?? 0, totals: { ...totals, elapsedMs } } })
  } catch (error) {
    parentPort.postMessage({ error })
  }
})
parentPort.postMessage({ ready: true })
