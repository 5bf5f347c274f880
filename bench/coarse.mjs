/**
 * node bench/coarse.mjs [--quick] [--noisy]
 *
 * One hot key on one thread, on the coarse clock and on the default one, against the least that a limiter on a shared time
 * word must do: read that word, `Map.get`, one load and one compareExchange of 64 bits. And what the ticker costs a process
 * that does nothing else. Prints its own table.
 */
import { setTimeout } from 'node:timers/promises'
import { ticker } from './clocks.mjs'
import { range, short } from './figures.mjs'
import { coarseFloor } from './floors.mjs'
import { line, machine } from './machine.mjs'
import { options } from './options.mjs'
import { quietly, refusable, tolerate } from './quiet.mjs'
import { shapes } from './shapes.mjs'
import { speed } from './speed.mjs'
import { cas, coarse } from './subjects.mjs'

const { quick, noisy } = options(process.argv.slice(2))
if (noisy) tolerate()
const size = quick ? { rounds: 7, ms: 10 } : { rounds: 25, ms: 20 }

/** Starts the ticker of this run: its share of a core, and by how much it makes the process larger. */
async function ticking(ms) {
  const { rss } = process.memoryUsage()
  ticker()
  await setTimeout(1_000)
  const [used, begun] = [process.cpuUsage(), performance.now()]
  await setTimeout(ms)
  const { user, system } = process.cpuUsage(used)
  return { share: (user + system) / 1_000 / (performance.now() - begun), bytes: process.memoryUsage().rss - rss }
}

await refusable(async () => {
  console.log(line({ ...machine(), command: 'node bench/coarse.mjs', noisy }))
  const { share, bytes } = await ticking(quick ? 2_000 : 10_000)
  console.log(`the ticker, once a millisecond: ${short(share * 100)} % of a core, ${short(bytes / 2 ** 20)} MiB`)
  for (const shape of [shapes['hot-allowed'], shapes['hot-denied']]) {
    const rows = await quietly(() => speed(shape, [coarse, cas], size, [coarseFloor]), console.error)
    console.log(`\n${shape.title}: ns a call, and as a ratio to the floor`)
    for (const { label, ns, ratio } of rows) console.log(`${label.padEnd(36)} ${range(ns).padEnd(24)} ${range(ratio)}`)
  }
})
