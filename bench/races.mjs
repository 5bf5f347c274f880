/** Several threads at once: throughput, fairness, lost exchanges and the tail of single calls. */
import { Crew } from './crew.mjs'
import { median, spread } from './figures.mjs'
import { floors } from './floors.mjs'
import { Histogram } from './histogram.mjs'
import { checkGiven, checkQuiet } from './quiet.mjs'

/** Share of its time that a round must have had to be counted; rounds that had less are run again, for a while. */
const UNDISTURBED = 0.9

const floorIds = floors.map(({ id }) => id)

async function withCrews(ids, shape, size, body) {
  const crews = await Promise.all(ids.map((id) => Crew.muster(id, shape, size)))
  try {
    return await body(crews)
  } finally {
    await Promise.all(crews.map((crew) => crew.end()))
  }
}

/**
 * Rows for each subject and number of threads. All of them take turns within each round, so a ratio compares two
 * moments that are close together: `ratio` to the faster floor at the same number of threads, `gain` of the whole
 * over the same subject with one thread.
 */
export function races(shape, ids, threads, { rounds, ms }) {
  return withCrews([...floorIds, ...ids], shape, Math.max(...threads), async (crews) => {
    for (const crew of crews) await crew.race(ms * 2)
    const all = []
    for (let left = rounds, most = rounds * 2; left > 0 && most > 0; most--) {
      const round = { given: 1, results: new Map() }
      for (const size of threads) {
        for (const crew of crews) {
          const result = await crew.race(ms, size)
          round.results.set(`${crew.subject.id} ${size}`, result)
          // Whoever takes turns at a lock sleeps by choice; only the others say what the machine gave.
          if (crew.subject.id !== 'mutex') round.given = Math.min(round.given, result.given)
        }
      }
      all.push(round)
      if (round.given > UNDISTURBED) left--
    }
    for (const crew of crews) crew.check()
    const kept = all.sort((a, b) => b.given - a.given).slice(0, rounds)
    checkGiven(shape.title, median(kept.map(({ given }) => given)))
    const of = (id, size) => kept.map(({ results }) => results.get(`${id} ${size}`))
    const ns = (id, size) => of(id, size).map((each) => each.ns)
    return threads.flatMap((size) => {
      const best = floorIds.reduce((least, id) => (median(ns(id, size)) < median(ns(least, size)) ? id : least))
      checkQuiet(`${shape.title}, ${size} threads`, ns(best, size))
      return crews.map(({ subject }) => {
        const mine = of(subject.id, size)
        const alone = of(subject.id, threads[0])
        return {
          shape: shape.id,
          subject: subject.id,
          label: subject.label,
          threads: size,
          ns: spread(ns(subject.id, size)),
          ratio: spread(mine.map((each, i) => each.ns / ns(best, size)[i])),
          perSecond: spread(mine.map((each) => each.perSecond)),
          gain: spread(mine.map((each, i) => each.perSecond / alone[i].perSecond)),
          fairness: spread(mine.map((each) => each.fairness)),
          retries: median(mine.map((each) => each.retries)),
          best: subject.id === best,
        }
      })
    })
  })
}

/** The tail: each call timed by itself, the floor's in the same way, so that both bear the same two clock reads. */
export function tails(shape, ids, threads, { rounds, calls }) {
  const all = [...floorIds, ...ids]
  return withCrews(all, shape, Math.max(...threads), async (crews) => {
    for (const crew of crews) await crew.turn({ kind: 'latency', calls })
    const seen = new Map()
    for (let round = 0; round < rounds; round++) {
      for (const size of threads) {
        for (const crew of crews) {
          const key = `${crew.subject.id} ${size}`
          if (!seen.has(key)) seen.set(key, [])
          const merged = new Histogram()
          for (const result of await crew.turn({ kind: 'latency', calls }, size)) merged.merge(result)
          seen.get(key).push(merged)
        }
      }
    }
    for (const crew of crews) crew.check()
    return threads.flatMap((size) =>
      crews.map(({ subject }) => {
        const trials = seen.get(`${subject.id} ${size}`)
        const summaries = trials.map((each) => each.summary())
        const whole = new Histogram()
        for (const each of trials) whole.merge(each)
        const part = (field) => spread(summaries.map((each) => each[field]))
        const row = { shape: shape.id, subject: subject.id, label: subject.label, threads: size }
        return { ...row, p50: part('p50'), p99: part('p99'), p999: part('p999'), max: part('max'), tail: whole.tail() }
      }),
    )
  })
}

