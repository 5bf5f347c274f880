/**
 * npm run bench [-- --quick] [--threads 1,2,4,8] [--noisy]
 *
 * Side by side in one process, floor first; checks every admitted total before it prints a figure, and refuses a
 * run too noisy to quote (exit 1), or with --noisy says so beside it. Writes results.json, results.md and the pictures
 * beside this file, and in a full and quiet run the tables of the README.
 */
import { algorithmSubjects } from './algorithm-subjects.mjs'
import { arenaRows, memoryRows } from './bytes.mjs'
import { distances } from './distances.mjs'
import { line, machine } from './machine.mjs'
import { draw } from './pictures.mjs'
import { options } from './options.mjs'
import { quietly, refusable, tolerate } from './quiet.mjs'
import { races, tails } from './races.mjs'
import { readme } from './readme.mjs'
import { markdown, terminal } from './report.mjs'
import { eachAlgorithm, shapes } from './shapes.mjs'
import { speed } from './speed.mjs'
import { load, save } from './store.mjs'
import { cas, everybody } from './subjects.mjs'

const { quick, threads, noisy } = options(process.argv.slice(2))
if (noisy) tolerate()
const size = quick
  ? { speed: { rounds: 5, ms: 6 }, races: { rounds: 5, ms: 24 }, tails: { rounds: 3, calls: 50_000 }, distances: { rounds: 3, ms: 90 } }
  : { speed: { rounds: 15, ms: 12 }, races: { rounds: 11, ms: 50 }, tails: { rounds: 7, calls: 200_000 }, distances: { rounds: 7, ms: 150 } }
const far = threads.filter((count) => count <= 2)
const hot = ['hot-allowed', 'hot-denied']

const begun = performance.now()
const note = (text) => process.stderr.write(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${text}\n`)
const pass = (what, measure) => {
  note(what)
  return quietly(measure, note)
}

await refusable(async () => {
  const where = { ...machine(), command: `npm run bench${quick ? ' -- --quick' : ''}`, mode: quick ? 'quick' : 'full', noisy }
  console.log(line(where))
  const sections = { machine: where, speed: [], races: [], tails: [] }
  const all = await everybody()
  for (const shape of Object.values(shapes)) {
    sections.speed.push(...(await pass(`one thread: ${shape.title}`, () => speed(shape, all, size.speed))))
  }
  sections.speed.push(...(await pass(`one thread: ${eachAlgorithm.title}`, () => speed(eachAlgorithm, [cas, ...algorithmSubjects], size.speed))))
  for (const shape of Object.values(shapes)) {
    const ids = shape.keys === 'hot' ? ['cas', 'mutex', 'atomics-add'] : ['cas', 'mutex']
    sections.races.push(...(await pass(`threads ${threads}: ${shape.title}`, () => races(shape, ids, threads, size.races))))
  }
  for (const id of [...hot, 'zipf']) {
    sections.tails.push(...(await pass(`tails: ${shapes[id].title}`, () => tails(shapes[id], ['cas', 'mutex'], threads, size.tails))))
  }
  const { rows, redis } = await pass('a limiter elsewhere', () => distances(shapes['hot-allowed'], far, size.distances))
  sections.distances = rows
  sections.redis = redis ?? null
  sections.arena = arenaRows()
  sections.memory = await pass('memory', () => memoryRows(all, quick))
  save(sections)
  console.log(terminal(load()))
  markdown(load())
  draw(load())
  if (!quick && !noisy) readme(load())
  note('wrote bench/results.json, bench/results.md and the pictures')
})
