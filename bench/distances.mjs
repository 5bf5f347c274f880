/** A limiter elsewhere: what asking the main thread, or a Redis, costs beside a call of hotbucket in the same round. */
import { RateLimiter, tokenBucket } from '../dist/index.js'
import { Crew } from './crew.mjs'
import { spread } from './figures.mjs'
import { portTo, startRedis } from './remotes.mjs'

const FLIGHTS = [1, 64]

/** Rows by remote, flight and threads; `ratio` is to hotbucket cas on as many threads. `redis` is its version or undefined. */
export async function distances(shape, threads, { rounds, ms }) {
  const ports = []
  const limiter = new RateLimiter({ policy: tokenBucket(shape.policy) })
  const toMain = () => {
    const made = portTo(limiter)
    ports.push(made)
    return made
  }
  const redis = await startRedis()
  const toRedis = () => ({ remote: { redisPort: redis.port, prefix: 'bench:', burst: shape.policy.burst } })
  const size = Math.max(...threads)
  const cas = await Crew.muster('cas', shape, size)
  const remotes = [await Crew.muster('message-port', shape, size, toMain)]
  if (redis !== undefined) remotes.push(await Crew.muster('redis', shape, size, toRedis))
  try {
    await cas.race(ms)
    for (const crew of remotes) await crew.turn({ kind: 'pump', ms, flight: 64 })
    const seen = new Map()
    for (let round = 0; round < rounds; round++) {
      for (const count of threads) {
        for (const crew of remotes) {
          for (const flight of FLIGHTS) {
            const near = await cas.race(ms / 3, count)
            const results = await crew.turn({ kind: 'pump', ms, flight }, count)
            const perSecond = results.reduce((sum, { calls, busyNs }) => sum + (calls / busyNs) * 1e9, 0)
            const ns = (1e9 * count) / perSecond
            const key = JSON.stringify({ subject: crew.subject.id, flight, threads: count })
            seen.set(key, [...(seen.get(key) ?? []), { ns, ratio: ns / near.ns }])
          }
        }
      }
    }
    cas.check()
    const [main, server] = remotes.map((crew) => crew.check())
    const { allowed } = limiter.stats()
    if (main.calls !== main.admitted || main.calls !== allowed) throw new Error(`message-port: ${main.calls} calls, ${main.admitted} admitted, ${allowed} counted`)
    if (server !== undefined && server.calls !== server.admitted) throw new Error(`redis: ${server.calls} calls, ${server.admitted} admitted`)
    const rows = [...seen].map(([key, rounds]) => ({
      shape: shape.id,
      ...JSON.parse(key),
      ns: spread(rounds.map(({ ns }) => ns)),
      ratio: spread(rounds.map(({ ratio }) => ratio)),
    }))
    return { rows, redis: redis?.version }
  } finally {
    await Promise.all([cas, ...remotes].map((crew) => crew.end()))
    for (const port of ports) port.close()
    await redis?.stop()
  }
}
