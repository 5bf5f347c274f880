/** The thread of a CoarseClock: publishes the time, sleeps, and is ended by `terminate`. Needs no event loop. */
import { workerData } from 'node:worker_threads'
import { sleeper, TickCell } from '../memory/tick-cell.ts'
import type { CoarseClockHandle } from './ticks.ts'
import { Ticks } from './ticks.ts'

const cell = new TickCell((workerData as CoarseClockHandle).buffer)
const ticks = new Ticks(cell)
const sleep = sleeper()
for (;;) {
  ticks.publish()
  sleep(cell.intervalMs)
}
