/** Bytes a key and bytes of garbage a call, read from the heap of the worker's own isolate. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BATCH, name } from './keys.mjs'
import { median } from './figures.mjs'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

function heap() {
  const { used_heap_size: used, external_memory: external } = getHeapStatistics()
  return used + external
}

/**
 * Bytes allocated by one call. Between a full collection and the next reading there is room in the young
 * generation for `calls` without another collection; a trial that met one shows less than nothing, or an outlier,
 * and the median ignores it. The reading's own bytes are taken off.
 */
export async function garbagePerCall(subject, { call }, keys, { calls, trials }) {
  const batch = keys.next()
  const run = (count) => {
    for (let i = 0; i < count; i++) call(batch[i % BATCH])
  }
  const runLater = async (count) => {
    for (let i = 0; i < count; i++) await call(batch[i % BATCH])
  }
  const body = subject.later ? runLater : run
  for (let i = 0; i < 30; i++) await body(BATCH)
  const figures = []
  for (let trial = 0; trial < trials; trial++) {
    gc()
    const before = heap()
    const idle = heap()
    if (subject.later) await runLater(calls)
    else run(calls)
    const after = heap()
    figures.push((after - idle - (idle - before)) / calls)
  }
  return { bytes: Math.max(0, median(figures)) }
}

/** Bytes of the heap that hold one key more, strings included where the subject keeps them. */
export async function bytesPerKey(subject, shape, { keys }) {
  const opened = subject.open(undefined, shape)
  gc()
  const before = heap()
  for (let i = 0; i < keys; i++) await opened.call(Buffer.from(name(i), 'latin1').latin1Slice())
  gc()
  gc()
  const bytes = (heap() - before) / keys
  // Still reachable here, so that nothing of it was collected above.
  await opened.call('the last')
  return { bytes }
}
