/**
 * The four algorithms on the same bursts: `npm run algorithms` prints what each lets through and what it costs in
 * memory, and draws it as bench/algorithms.svg from the same numbers.
 */
import { writeFileSync } from 'node:fs'
import { fixedWindow, RateLimiter, SharedClock, slidingWindowCounter, slidingWindowLog, tokenBucket } from 'hotbucket'

const MINUTE = 60_000
const EDGE = { limit: 10, asks: 10, times: [59_900, 60_100] }
const WAVES = { limit: 100, asks: 20, everyMs: 7_000, endMs: 6 * MINUTE }

const algorithms = [
  { name: 'token bucket', ink: '#0a7ea4', policy: (limit) => tokenBucket({ limit, periodMs: MINUTE }), fault: 'a full burst, then the refill on top' },
  { name: 'fixed window', ink: '#d1660f', policy: (limit) => fixedWindow({ limit, windowMs: MINUTE }), fault: 'twice the limit around an edge' },
  { name: 'sliding window counter', ink: '#8250df', policy: (limit) => slidingWindowCounter({ limit, windowMs: MINUTE }), fault: 'an estimate, off where calls are uneven' },
  { name: 'sliding window log', ink: '#2da44e', policy: (limit) => slidingWindowLog({ limit, windowMs: MINUTE }), fault: 'exact, for 8 bytes a unit of limit' },
]

/** How many of `asks` calls are allowed at each time. */
function admitted(policy, asks, times) {
  const clock = new SharedClock(0)
  const limiter = new RateLimiter({ policy, clock })
  return times.map((ms) => {
    clock.set(ms)
    return Array.from({ length: asks }, () => limiter.allow('k')).filter(Boolean).length
  })
}

/** Bytes by which an arena grows for one slot more. */
function bytesOfKey(policy) {
  const bytes = (maxKeys) => new RateLimiter({ policy, maxKeys }).stats().bytes
  return (bytes(8) - bytes(1)) / 7
}

/** What was let through in the minute that ends at each wave. */
function inLastMinute(passed, times) {
  return times.map((end, last) => passed.slice(0, last + 1).reduce((sum, count, at) => (times[at] > end - MINUTE ? sum + count : sum), 0))
}

const waveTimes = Array.from({ length: Math.ceil(WAVES.endMs / WAVES.everyMs) }, (_, wave) => wave * WAVES.everyMs)
const results = algorithms.map((algorithm) => {
  const { policy } = algorithm
  const recent = inLastMinute(admitted(policy(WAVES.limit), WAVES.asks, waveTimes), waveTimes)
  return {
    ...algorithm,
    edge: admitted(policy(EDGE.limit), EDGE.asks, EDGE.times),
    recent,
    peak: Math.max(...recent),
    bytes: bytesOfKey(policy(WAVES.limit)),
  }
})

console.log(`10 a minute, ${EDGE.asks} calls at 59.9 s and ${EDGE.asks} at 60.1 s; ${WAVES.limit} a minute, ${WAVES.asks} calls every ${WAVES.everyMs / 1_000} s\n`)
console.log(['algorithm'.padEnd(24), 'at the edge', 'most in a minute', 'bytes a slot', 'known for'].join('  '))
for (const { name, edge, peak, bytes, fault } of results) {
  console.log([name.padEnd(24), edge.join(' + ').padStart(11), `${peak} of ${WAVES.limit}`.padStart(16), `${bytes}`.padStart(12), fault].join('  '))
}

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #57606a }
.name { font-weight: 600; fill: #32383f } .small { font-size: 11px } .number { font-variant-numeric: tabular-nums }
.axis { stroke: #7d8590; stroke-opacity: .5; fill: none } .limit { stroke: #7d8590; stroke-dasharray: 4 4; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #9da7b1 } .name { fill: #d5dbe1 } }
</style>`
const [WIDTH, TOP, ROW, FOOT] = [760, 62, 104, 34]
const [EDGE_X, WAVE_X, WAVE_END, COST_X] = [210, 384, 640, 664]
const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" ${more}>${words}</text>`

/** Each call a dot: full when it was let through, hollow when not. */
function dots(count, x, y, ink) {
  return Array.from({ length: EDGE.asks }, (_, call) => {
    const paint = call < count ? `fill="${ink}"` : `fill="none" stroke="#7d8590" stroke-opacity=".6"`
    return `<circle cx="${x + (call % 2) * 13}" cy="${y - Math.floor(call / 2) * 13}" r="4.5" ${paint}/>`
  })
}

function row({ name, ink, fault, edge, recent, peak, bytes }, at) {
  const base = TOP + at * ROW + 72
  const x = (ms) => (WAVE_X + (ms / WAVES.endMs) * (WAVE_END - WAVE_X)).toFixed(1)
  const y = (count) => (base - (count / (2 * WAVES.limit)) * 70).toFixed(1)
  const steps = recent.slice(1).map((count, wave) => `H${x(waveTimes[wave + 1])}V${y(count)}`)
  const path = `M${x(0)} ${y(recent[0])}${steps.join('')}H${WAVE_END}`
  const high = recent.indexOf(peak)
  return [
    text(12, base - 40, name, 'class="name"'),
    text(12, base - 22, fault, 'class="small"'),
    ...dots(edge[0], EDGE_X + 8, base - 8, ink),
    ...dots(edge[1], EDGE_X + 62, base - 8, ink),
    `<path class="limit" d="M${EDGE_X + 41.5} ${base}V${base - 68}"/>`,
    `<path class="axis" d="M${EDGE_X - 4} ${base}H${EDGE_X + 88}M${WAVE_X} ${base}H${WAVE_END}"/>`,
    text(EDGE_X + 96, base - 28, edge.join(' + '), 'class="number"'),
    `<path d="${path}V${base}H${WAVE_X}Z" fill="${ink}" fill-opacity=".14"/>`,
    `<path d="${path}" fill="none" stroke="${ink}" stroke-width="2" stroke-linejoin="round"/>`,
    `<path class="limit" d="M${WAVE_X} ${y(WAVES.limit)}H${WAVE_END}"/>`,
    `<circle cx="${x(waveTimes[high])}" cy="${y(peak)}" r="3" fill="${ink}"/>`,
    text(x(waveTimes[high]), (Number(y(peak)) - 8).toFixed(1), peak, 'text-anchor="middle" class="small number"'),
    text(COST_X, base - 28, `${bytes} bytes`, 'class="number"'),
  ]
}

const height = TOP + results.length * ROW + FOOT
const about = results.map(({ name, edge, peak, bytes }) => `${name}: ${edge.join(' + ')} at the edge, at most ${peak} of ${WAVES.limit} in a minute, ${bytes} bytes a slot`).join('; ')
const parts = [
  text(EDGE_X - 4, 22, `${EDGE.limit} a minute`, 'class="name"'),
  text(EDGE_X - 4, 39, '10 calls at 59.9, 10 at 60.1 s', 'class="small"'),
  text(WAVE_X, 22, `${WAVES.limit} a minute`, 'class="name"'),
  text(WAVE_X, 39, `${WAVES.asks} calls every ${WAVES.everyMs / 1_000} s: passed in the last minute`, 'class="small"'),
  text(COST_X, 22, 'memory', 'class="name"'),
  text(COST_X, 39, `a slot, limit ${WAVES.limit}`, 'class="small"'),
  ...results.flatMap(row),
  text(12, height - 12, 'Full dots passed, hollow ones were refused. Dashed: the edge of the minute, and the limit. Six minutes of calls.', 'class="small"'),
]
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${about}">\n${STYLE}\n${parts.join('\n')}\n</svg>\n`
writeFileSync(new URL('algorithms.svg', import.meta.url), svg)
console.log('\nbench/algorithms.svg')
