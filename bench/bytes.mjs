/** Bytes a key and bytes of garbage a call, each subject in a worker of its own. */
import { RateLimiter, tokenBucket } from '../dist/index.js'
import { Crew } from './crew.mjs'
import { floors } from './floors.mjs'
import { KEY_COUNT } from './keys.mjs'
import { shapes } from './shapes.mjs'

/** Bytes of an arena by maxKeys, from the limiter itself. */
export function arenaRows() {
  return [1_000, 10_000, 100_000, 1_000_000].flatMap((maxKeys) =>
    ['cas', 'mutex'].map((sync) => {
      const { bytes, capacity } = new RateLimiter({ policy: tokenBucket(shapes.zipf.policy), maxKeys, sync }).stats()
      return { maxKeys, sync, bytes, capacity, bytesPerKey: bytes / maxKeys }
    }),
  )
}

async function alone(id, shape, order) {
  const crew = await Crew.muster(id, shape, 1)
  try {
    return (await crew.turn(order))[0].bytes
  } finally {
    await crew.end()
  }
}

/**
 * Garbage on the hot key, allowed and denied, and on fresh strings; heap bytes a key for those that keep keys in
 * the heap. These are counts, not times, so the workers of one subject may run side by side.
 */
export async function memoryRows(all, quick) {
  const order = { kind: 'garbage', calls: 1_000, trials: quick ? 15 : 41 }
  const rows = []
  for (const { id, label, threads } of [...floors, ...all]) {
    const [allowed, denied, fresh, bytesPerKey] = await Promise.all([
      alone(id, shapes['hot-allowed'], order),
      alone(id, shapes['hot-denied'], order),
      threads ? alone(id, shapes['zipf-fresh'], order) : undefined,
      threads ? undefined : alone(id, { ...shapes.zipf, keys: 'hot' }, { kind: 'bytes', keys: KEY_COUNT }),
    ])
    rows.push({ subject: id, label, allowed, denied, fresh, bytesPerKey })
  }
  return rows
}
