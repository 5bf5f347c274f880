/** Writes the figures of a full, quiet run into the tables of the README, so that they are those of results.json. */
import { readFileSync, writeFileSync } from 'node:fs'
import { shapes } from './shapes.mjs'

const file = new URL('../README.md', import.meta.url)
const FLOORS = ['floor-bigint', 'floor-int']
const ALONE = { floor: FLOORS, cas: ['cas'], mutex: ['mutex'], 'plain Map': ['plain-map'], 'rate-limiter-flexible': ['rate-limiter-flexible'], 'express-rate-limit': ['express-rate-limit'], 'fast-ratelimit': ['fast-ratelimit'] }
const TOGETHER = { floor: FLOORS, cas: ['cas'], mutex: ['mutex'], 'one `Atomics.add`': ['atomics-add'] }

/** Lines of a table: `figure(shape, subjects)` for each shape and column. */
function table(head, rows, columns, figure) {
  return [
    [head, ...Object.keys(columns)],
    ['---', ...Object.keys(columns).map(() => '---:')],
    ...rows.map(([title, id]) => [title, ...Object.values(columns).map((subjects) => figure(id, subjects))]),
  ].map((cells) => `| ${cells.join(' | ')} |`)
}

/** The two tables of the README, as text by the cell that begins them. */
export function tables({ speed, races }) {
  const alone = (id, subjects) => Math.round(Math.min(...speed.filter(({ shape, subject }) => shape === id && subjects.includes(subject)).map(({ ns }) => ns.median))).toLocaleString('en-US')
  const together = (id, subjects) =>
    (Math.max(...races.filter(({ shape, subject, threads }) => shape === id && threads === 2 && subjects.includes(subject)).map(({ perSecond }) => perSecond.median)) / 1e6).toFixed(1)
  const all = Object.values(shapes).map(({ title, id }) => [title, id])
  const hot = all.filter(([, id]) => id.startsWith('hot')).map(([title, id]) => [title.replace('hot key, ', ''), id])
  return [
    table('one thread, ns a call', all, ALONE, alone).join('\n'),
    table('two threads, one hot key, million calls a second in all', hot, TOGETHER, together).join('\n'),
  ]
}

/** Puts the tables in the place of those with the same heads, and names the machine. */
export function readme(results) {
  let text = readFileSync(file, 'utf8')
  for (const each of tables(results)) {
    const from = text.indexOf(each.slice(0, each.indexOf(' | ', 2)))
    text = text.slice(0, from) + each + text.slice(text.indexOf('\n\n', from))
  }
  const { cpu, cores, node } = results.machine
  writeFileSync(file, text.replace(/(medians of it here: ).*/, `$1${cpu}, ${cores} cores, Node ${node.slice(1)}.`))
}
