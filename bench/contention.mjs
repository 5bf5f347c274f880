/**
 * node bench/contention.mjs [--quick] [--threads 1,2,4,8] [--noisy]
 *
 * One hot key under contention: compare-and-swap, the lock and one bare `Atomics.add`, mostly allowed and mostly
 * denied. Prints its own table, and replaces these rows of results.json.
 */
import { machine } from './machine.mjs'
import { options } from './options.mjs'
import { draw } from './pictures.mjs'
import { quietly, refusable, tolerate } from './quiet.mjs'
import { races, tails } from './races.mjs'
import { markdown, terminal } from './report.mjs'
import { shapes } from './shapes.mjs'
import { load, save } from './store.mjs'

const { quick, threads, noisy } = options(process.argv.slice(2))
if (noisy) tolerate()
const ids = ['cas', 'mutex', 'atomics-add']
const hot = [shapes['hot-allowed'], shapes['hot-denied']]
await refusable(async () => {
  const found = { races: [], tails: [] }
  for (const shape of hot) {
    found.races.push(...(await quietly(() => races(shape, ids, threads, quick ? { rounds: 5, ms: 30 } : { rounds: 15, ms: 60 }), console.error)))
    found.tails.push(...(await tails(shape, ids, threads, quick ? { rounds: 3, calls: 50_000 } : { rounds: 9, calls: 200_000 })))
  }
  const before = load()
  const others = (rows = []) => rows.filter(({ shape }) => !hot.some(({ id }) => id === shape))
  save({
    machine: { ...(before.machine ?? { ...machine(), command: 'node bench/contention.mjs' }), noisy: noisy || before.machine?.noisy },
    races: [...found.races, ...others(before.races)],
    tails: [...found.tails, ...others(before.tails)],
  })
  console.log(terminal({ machine: { ...machine(), noisy }, ...found }))
  markdown(load())
  draw(load())
})
