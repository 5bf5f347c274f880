/**
 * What is measured. A subject has `share(shape)`, on the main thread, whose result reaches every seat, and
 * `open(shared, shape)`, in a seat, whose `call(key)` says whether the call is admitted.
 */
import { RateLimiter, tokenBucket } from '../dist/index.js'
import { algorithmSubjects } from './algorithm-subjects.mjs'
import { ticker } from './clocks.mjs'
import { atomicsAdd, coarseFloor, floors } from './floors.mjs'
import { KEY_COUNT } from './keys.mjs'

/** Limiters of the main thread, kept so that their counts can be read after a run. */
const made = new WeakMap()

function hotbucket(sync, { id = sync, label = `hotbucket ${sync}`, clock = () => undefined } = {}) {
  return {
    id,
    label,
    threads: true,
    share(shape) {
      const limiter = new RateLimiter({ policy: tokenBucket(shape.policy), maxKeys: shape.count ?? KEY_COUNT, sync, clock: clock() })
      const { handle } = limiter
      made.set(handle, limiter)
      return handle
    },
    open(handle) {
      const limiter = RateLimiter.attach(handle)
      return { call: (key) => limiter.allow(key) }
    },
    /** Counts of all seats, read on the main thread. */
    stats: (handle) => made.get(handle).stats(),
  }
}

/** The same arithmetic on one thread: an object a key in a Map, nothing shared, dropped whole when it is too large. */
const plainMap = {
  id: 'plain-map',
  label: 'plain Map, one thread',
  share: () => undefined,
  open(_, { policy }) {
    const { performance } = globalThis
    const price = policy.periodMs / policy.limit
    const ceiling = policy.burst * price
    const buckets = new Map()
    return {
      call(key) {
        const now = performance.now()
        let bucket = buckets.get(key)
        if (bucket === undefined) {
          if (buckets.size >= KEY_COUNT) buckets.clear()
          buckets.set(key, (bucket = { tat: now }))
        }
        const next = (bucket.tat > now ? bucket.tat : now) + price
        if (next - now > ceiling) return false
        bucket.tat = next
        return true
      },
      kept: buckets,
    }
  },
}

export const cas = hotbucket('cas')
export const mutex = hotbucket('mutex')
export const coarse = hotbucket('cas', { id: 'coarse', label: 'hotbucket cas, CoarseClock', clock: ticker })
const own = new Map([...floors, coarseFloor, atomicsAdd, cas, mutex, coarse, plainMap, ...algorithmSubjects].map((subject) => [subject.id, subject]))

/** The subjects of the comparison on one thread, in the order of the table. */
export async function everybody() {
  return [cas, mutex, plainMap, ...(await import('./peers.mjs')).peers]
}

/** A peer's code is loaded only where the peer runs. */
export async function subjectOf(id) {
  const subject = own.get(id) ?? (await everybody()).find((each) => each.id === id)
  if (subject === undefined) throw new Error(`no subject ${id}`)
  return subject
}
