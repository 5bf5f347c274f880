/** The figures as a table on a terminal and as Markdown, ratios first. */
import { writeFileSync } from 'node:fs'
import { range, short } from './figures.mjs'
import { line } from './machine.mjs'
import { eachAlgorithm, shapes } from './shapes.mjs'

const titles = new Map([...Object.values(shapes), eachAlgorithm].map(({ id, title }) => [id, title]))
const title = (id) => titles.get(id)
const ns = ({ median }) => short(median)
const optional = (value) => (value === undefined ? '' : short(value))

/** Sections whose rows come as cells. */
const SCALE = [
  ['scaleCalls', 'Many live keys', 'Keys at random, a fresh string each call, times the faster floor at as many slots and threads.', ['threads', 'times the floor', 'ns a call and thread', 'bytes a key']],
  ['scaleFill', 'Filling the table', 'New keys that stay live, up to maxKeys and beyond it; what finds no slot is refused and counted.', ['keys', 'ns a new key', 'refused for want of a slot']],
  ['scaleChurn', 'A day of churn', 'New keys all day on a clock that the run drives; resident memory is read each hour.', ['calls', 'reclaimed', 'refused for want of a slot', 'ns a call', 'RSS, least to greatest, MiB']],
]

/** Each section as { heading, note, head, rows }, cells as text. */
function sections(results) {
  const parts = []
  for (const id of titles.keys()) {
    const rows = (results.speed ?? []).filter(({ shape }) => shape === id)
    if (rows.length === 0) continue
    parts.push({
      heading: `One thread: ${title(id)}`,
      note: 'Times the faster floor of the same round: median (least to greatest).',
      head: ['', 'times the floor', 'ns a call'],
      rows: rows.map(({ label, best, ratio, ns: cost }) => [label + (best ? ' (faster)' : ''), range(ratio), ns(cost)]),
    })
  }
  for (const id of Object.keys(shapes)) {
    const rows = (results.races ?? []).filter(({ shape }) => shape === id)
    if (rows.length === 0) continue
    parts.push({
      heading: `Threads: ${title(id)}`,
      note: 'Times the faster floor at as many threads; gain is throughput over one thread; fairness the least share over the greatest.',
      head: ['', 'threads', 'times the floor', 'gain', 'fairness', 'ns a call and thread', 'million a second', 'retries a call'],
      rows: rows.map((row) => [
        row.label,
        `${row.threads}`,
        range(row.ratio),
        range(row.gain),
        short(row.fairness.median),
        ns(row.ns),
        short(row.perSecond.median / 1e6),
        short(row.retries),
      ]),
    })
  }
  if (results.tails?.length > 0) {
    parts.push({
      heading: 'Single calls',
      note: 'Each call timed by itself, two clock reads included, for the floor as for the rest. ns, medians of rounds.',
      head: ['', 'shape', 'threads', 'p50', 'p99', 'p99.9', 'max'],
      rows: results.tails.map((row) => [row.label, title(row.shape), `${row.threads}`, ns(row.p50), ns(row.p99), ns(row.p999), ns(row.max)]),
    })
  }
  if (results.distances?.length > 0) {
    const redis = results.redis === null ? 'Redis: absent, there is no redis-server on the PATH.' : `Redis ${results.redis} over loopback, one INCR a call.`
    parts.push({
      heading: 'A limiter elsewhere, hot key',
      note: `Times hotbucket cas on as many threads, in the same round. ${redis}`,
      head: ['', 'threads', 'in flight', 'times cas', 'ns a call and thread'],
      rows: results.distances.map((row) => [row.subject, `${row.threads}`, `${row.flight}`, range(row.ratio), ns(row.ns)]),
    })
  }
  if (results.memory !== undefined) {
    parts.push({
      heading: 'Garbage a call, and bytes a key',
      note: 'Bytes allocated by one call on one thread; bytes of heap that one more key takes, its string included.',
      head: ['', 'hot, allowed', 'hot, denied', 'fresh strings', 'bytes a key'],
      rows: results.memory.map((row) => [row.label, short(row.allowed), short(row.denied), optional(row.fresh), optional(row.bytesPerKey)]),
    })
    parts.push({
      heading: 'The arena',
      note: 'Allocated once, whatever the traffic.',
      head: ['maxKeys', 'sync', 'bytes', 'slots', 'bytes a key'],
      rows: results.arena.map((row) => [short(row.maxKeys), row.sync, short(row.bytes), short(row.capacity), short(row.bytesPerKey)]),
    })
  }
  for (const [name, heading, note, head] of SCALE) {
    const rows = results[name]
    if (rows?.length > 0) parts.push({ heading, note, head: ['', ...head], rows: rows.map(({ cells }) => cells.map((cell) => (typeof cell === 'number' ? short(cell) : cell))) })
  }
  return parts
}

export function terminal(results) {
  const bold = process.stdout.isTTY ? (text) => `\x1b[1m${text}\x1b[0m` : (text) => text
  const blocks = sections(results).map(({ heading, note, head, rows }) => {
    const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i].length)))
    const row = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')
    return [bold(heading), note, row(head), ...rows.map(row)].join('\n')
  })
  return `\n${blocks.join('\n\n')}\n\n${line(results.machine)}`
}

export function markdown(results) {
  const cells = (row) => `| ${row.join(' | ')} |`
  const blocks = sections(results).map(({ heading, note, head, rows }) =>
    [`## ${heading}`, '', note, '', cells(head), cells(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(cells)].join('\n'),
  )
  const intro = `# Figures of the last run\n\n${line(results.machine)}. \`${results.machine.command}\`.`
  writeFileSync(new URL('./results.md', import.meta.url), `${intro}\n\n${blocks.join('\n\n')}\n`)
}
