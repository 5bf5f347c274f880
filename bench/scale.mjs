/**
 * node bench/scale.mjs [--quick] [--noisy]
 *
 * 1 and 10 million live keys: bytes a key, ns a call, filling to 100 % and beyond, and a day of churn on a clock
 * that the run drives. Quick: up to 1 million and a tenth of a day. Replaces these rows of results.json.
 */
import { RateLimiter, SharedClock, tokenBucket } from '../dist/index.js'
import { range, short } from './figures.mjs'
import { name } from './keys.mjs'
import { machine } from './machine.mjs'
import { options } from './options.mjs'
import { quietly, refusable, tolerate } from './quiet.mjs'
import { races } from './races.mjs'
import { markdown, terminal } from './report.mjs'
import { lasting, uniform } from './shapes.mjs'
import { load, save } from './store.mjs'

const { quick, threads, noisy } = options(process.argv.slice(2))
if (noisy) tolerate()
const counts = quick ? [100_000, 1_000_000] : [100_000, 1_000_000, 10_000_000]
const ms = (started) => Number(process.hrtime.bigint() - started)

/** One percent of the keys at a time: names made first, then the timed calls. */
function meet(limiter, from, count) {
  const keys = Array.from({ length: count }, (_, i) => Buffer.from(name(from + i), 'latin1').latin1Slice())
  const started = process.hrtime.bigint()
  let admitted = 0
  for (let i = 0; i < count; i++) if (limiter.allow(keys[i])) admitted++
  return { ns: ms(started), admitted }
}

function fill(maxKeys) {
  const limiter = new RateLimiter({ policy: tokenBucket(lasting), maxKeys })
  const step = maxKeys / 100
  const rows = []
  let [met, admitted, full] = [0, 0, 0]
  for (const percent of [25, 50, 75, 100, 110, 125, 160]) {
    let [calls, ns] = [0, 0]
    while (met < (maxKeys * percent) / 100) {
      const part = meet(limiter, met, step)
      met += step
      calls += step
      ns += part.ns
      admitted += part.admitted
    }
    const { tableFull, keys } = limiter.stats()
    if (admitted + tableFull !== met || keys !== admitted) throw new Error(`${met} keys met, ${admitted} admitted, ${tableFull} refused for want of a slot, ${keys} held`)
    rows.push({ cells: [`${short(maxKeys)} keys, to ${percent} %`, met, ns / calls, `${short(tableFull - full)} (${short((100 * (tableFull - full)) / calls)} %)`] })
    full = tableFull
  }
  return rows
}

/** New keys every second of a day, each seen once: some 600 live at a time where there is room for 1,000. */
function churn() {
  const clock = new SharedClock(0)
  const limiter = new RateLimiter({ policy: tokenBucket({ limit: 10, periodMs: 60_000 }), maxKeys: 1_000, clock })
  const seconds = quick ? 8_640 : 86_400
  const perSecond = 100
  const resident = []
  let [ns, calls] = [0, 0]
  for (let second = 0; second < seconds; second++) {
    ns += meet(limiter, calls, perSecond).ns
    calls += perSecond
    clock.advance(1_000)
    if (second % (seconds / 24) === 0) resident.push(process.memoryUsage.rss() / 2 ** 20)
  }
  const { allowed, reclaimed, tableFull } = limiter.stats()
  if (allowed + tableFull !== calls) throw new Error(`${calls} calls, ${allowed} allowed, ${tableFull} refused for want of a slot`)
  // The first hour's code is still being compiled.
  const settled = resident.slice(4)
  const span = `${short(Math.min(...settled))} to ${short(Math.max(...settled))}`
  return [{ cells: [quick ? 'a tenth of a day' : 'a day', calls, reclaimed, tableFull, ns / calls, span] }]
}

await refusable(async () => {
  const found = { scaleFill: [], scaleCalls: [], scaleChurn: churn() }
  for (const count of counts) {
    console.error(`${short(count)} keys`)
    found.scaleFill.push(...fill(count))
    const shape = uniform(count)
    const { bytes } = new RateLimiter({ policy: tokenBucket(lasting), maxKeys: count }).stats()
    const plan = quick ? { rounds: 3, ms: 60 } : { rounds: 7, ms: 100 }
    for (const row of await quietly(() => races(shape, ['cas'], threads.filter((size) => size <= 2), plan), console.error)) {
      const held = row.subject === 'cas' ? bytes / count : ''
      found.scaleCalls.push({ cells: [`${row.label}, ${short(count)} keys`, `${row.threads}`, range(row.ratio), row.ns.median, held] })
    }
  }
  save({ machine: { ...(load().machine ?? { ...machine(), command: 'node bench/scale.mjs' }), noisy: noisy || load().machine?.noisy }, ...found })
  console.log(terminal({ machine: { ...machine(), noisy }, ...found }))
  markdown(load())
})
