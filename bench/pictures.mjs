/**
 * Pictures of the last run, drawn from its own JSON: `node bench/pictures.mjs`. No background, and ink that follows
 * the reader's colour scheme, so that they are legible in light and dark.
 */
import { writeFileSync } from 'node:fs'
import { short } from './figures.mjs'
import { line } from './machine.mjs'
import { shapes } from './shapes.mjs'
import { load } from './store.mjs'

const INKS = { cas: '#0a7ea4', mutex: '#d1660f', 'atomics-add': '#8250df', floor: '#7d8590' }
const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #32383f } .small { font-size: 11px }
.axis { stroke: #7d8590; stroke-width: 1; fill: none } .grid { stroke: #7d8590; stroke-opacity: .25; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #9da7b1 } .title { fill: #d5dbe1 } }
</style>`

const escaped = (text) => `${text}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const text = (x, y, words, more = '') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`
const mark = (x1, y1, x2, y2, kind) => `<path class="${kind}" d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`
const curve = (points, ink, dashed) =>
  `<path d="M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}" fill="none" stroke="${ink}" stroke-width="2"${dashed ? ' stroke-dasharray="5 4"' : ''}/>`

function frame(width, height, about, parts, { machine }) {
  const foot = text(12, height - 10, line(machine), 'class="small"')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(about)}">\n${STYLE}\n${parts.join('\n')}\n${foot}\n</svg>\n`
}

/** A scale by powers: position of a value between two pixels. */
const logarithmic = (low, high, from, to) => (value) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from)

const nameOf = (row) => (row.subject.startsWith('floor') ? 'the floor' : row.label)
const inkOf = (row) => INKS[row.subject] ?? INKS.floor

function legend(rows, x, y) {
  return rows.flatMap((row, i) => [
    curve([[x, y + i * 18], [x + 22, y + i * 18]], inkOf(row), row.subject.startsWith('floor')),
    text(x + 28, y + i * 18 + 4, nameOf(row)),
  ])
}

/** The faster floor at each number of threads, then the others. */
function lines(rows) {
  const ids = ['cas', 'mutex', 'atomics-add']
  return [rows.filter(({ subject, best }) => best && subject.startsWith('floor')), ...ids.map((id) => rows.filter(({ subject }) => subject === id))].filter(({ length }) => length > 0)
}

function throughput(results) {
  const parts = []
  const all = results.races.filter(({ shape }) => shape.startsWith('hot'))
  const top = Math.max(...all.map(({ perSecond }) => perSecond.max)) / 1e6
  const threads = [...new Set(all.map((row) => row.threads))]
  for (const [panel, id] of ['hot-allowed', 'hot-denied'].entries()) {
    const rows = all.filter(({ shape }) => shape === id)
    const left = 52 + panel * 340
    const x = (count) => left + (threads.indexOf(count) * 270) / Math.max(1, threads.length - 1)
    const y = logarithmic(1, top * 1.1, 290, 44)
    parts.push(text(left, 24, shapes[id].title, 'class="title"'))
    for (const tick of [1, 2, 5, 10, 20, 50, 100, 200].filter((each) => each < top * 1.1)) {
      parts.push(mark(left, y(tick), left + 280, y(tick), 'grid'), text(left - 8, y(tick) + 4, tick, 'text-anchor="end"'))
    }
    for (const count of threads) parts.push(text(x(count), 310, count, 'text-anchor="middle"'))
    for (const series of lines(rows)) {
      parts.push(curve(series.map((row) => [x(row.threads), y(row.perSecond.median / 1e6)]), inkOf(series[0]), series[0].subject.startsWith('floor')))
      for (const { threads: count, perSecond } of series) {
        parts.push(`<path d="M${x(count)} ${y(perSecond.min / 1e6).toFixed(1)}L${x(count)} ${y(perSecond.max / 1e6).toFixed(1)}" stroke="${inkOf(series[0])}" stroke-opacity=".5"/>`)
      }
    }
    if (panel === 1) parts.push(...legend(lines(rows).map(([row]) => row), 52, 362))
  }
  parts.push(text(52, 334, 'threads; millions of calls a second in all, by powers; bars from the least round to the greatest', 'class="small"'))
  return frame(700, 450, 'Throughput of one hot key against threads', parts, results)
}

function latency(results) {
  const most = Math.max(...results.tails.map((row) => row.threads).filter((count) => count <= 2))
  const parts = []
  const [low, high] = [30, 1e5]
  for (const [panel, id] of ['hot-allowed', 'hot-denied'].entries()) {
    const rows = results.tails.filter((row) => row.shape === id && row.threads === most)
    const floors = rows.filter(({ subject }) => subject.startsWith('floor')).sort((a, b) => a.p50.median - b.p50.median)
    const series = [floors[0], ...rows.filter(({ subject }) => INKS[subject] !== undefined && subject !== 'atomics-add')]
    const left = 58 + panel * 340
    const x = logarithmic(low, high, left, left + 270)
    const y = logarithmic(1, 1e-5, 44, 290)
    parts.push(text(left, 24, `${shapes[id].title}, ${most} threads`, 'class="title"'))
    for (const share of [1, 0.1, 0.01, 0.001, 1e-4, 1e-5]) {
      parts.push(mark(left, y(share), left + 280, y(share), 'grid'), text(left - 6, y(share) + 4, share === 1 ? 'all' : `1 in ${short(Math.round(1 / share)).replace(',000', 'k')}`, 'text-anchor="end" class="small"'))
    }
    for (const [ns, words] of [[100, '100 ns'], [1_000, '1 µs'], [10_000, '10 µs'], [100_000, '100 µs']]) parts.push(text(x(ns), 310, words, 'text-anchor="middle" class="small"'))
    for (const row of series) {
      const points = row.tail.filter(([ns, slower]) => slower >= 1e-5 && ns <= high && ns >= low).map(([ns, slower]) => [x(ns), y(slower)])
      if (points.length > 0) parts.push(curve(points, inkOf(row), row.subject.startsWith('floor')))
    }
    if (panel === 1) parts.push(...legend(series, 52, 362))
  }
  parts.push(text(52, 334, 'share of calls slower than the time below; two clock reads are in each', 'class="small"'))
  return frame(700, 432, 'Latency of single calls on one hot key', parts, results)
}

function memory(results) {
  const arena = results.arena.filter(({ maxKeys }) => maxKeys === 100_000)
  const rows = [
    ...arena.map(({ sync, bytesPerKey }) => ({ name: `hotbucket ${sync}`, bytes: bytesPerKey, ink: INKS[sync] })),
    ...results.memory.filter(({ bytesPerKey }) => bytesPerKey !== undefined).map(({ label, bytesPerKey }) => ({ name: label, bytes: bytesPerKey, ink: INKS.floor })),
  ]
  const most = Math.max(...rows.map(({ bytes }) => bytes))
  const parts = [text(12, 24, 'Bytes a key, 100,000 keys', 'class="title"')]
  for (const [i, { name, bytes, ink }] of rows.entries()) {
    const y = 40 + i * 26
    parts.push(text(200, y + 14, name, 'text-anchor="end"'), `<rect x="210" y="${y + 2}" width="${((bytes / most) * 400).toFixed(1)}" height="16" rx="2" fill="${ink}"/>`)
    parts.push(text(218 + (bytes / most) * 400, y + 14, short(bytes)))
  }
  return frame(700, 70 + rows.length * 26, 'Bytes a key against other limiters', parts, results)
}

export function draw(results) {
  const write = (name, svg) => writeFileSync(new URL(`./${name}.svg`, import.meta.url), svg)
  if (results.races?.some(({ shape }) => shape.startsWith('hot'))) write('throughput', throughput(results))
  if (results.tails?.length > 0) write('latency', latency(results))
  if (results.memory !== undefined) write('memory', memory(results))
}

if (process.argv[1] === new URL(import.meta.url).pathname) draw(load())
