/** Shapes of traffic, and the policies that make them. */

const MINUTE = 60_000

/** A bucket that no run exhausts: every call is admitted and every call writes. */
const ample = { limit: 1_000, periodMs: MINUTE, burst: 2_000_000_000 }
/** A bucket that one call leaves short for an hour, and that no run exhausts: its key stays live and holds its slot. */
export const lasting = { limit: 1, periodMs: 3_600_000, burst: 100_000_000 }
/** A bucket that is empty after its first moment: nearly every call is refused. */
const scant = { limit: 1_000, periodMs: MINUTE, burst: 1_000 }
/** A bucket that is full again a millisecond later, so that its slot can be had anew. */
const brief = { limit: 1_000, periodMs: 1_000, burst: 1_000 }

export const shapes = {
  'hot-allowed': { id: 'hot-allowed', title: 'hot key, mostly allowed', keys: 'hot', policy: ample },
  'hot-denied': { id: 'hot-denied', title: 'hot key, mostly denied', keys: 'hot', policy: scant, denied: true },
  zipf: { id: 'zipf', title: 'Zipf, 100,000 known strings', keys: 'zipf', policy: lasting },
  'zipf-fresh': { id: 'zipf-fresh', title: 'Zipf, a fresh string each call', keys: 'zipf-fresh', policy: lasting },
  new: { id: 'new', title: 'all keys new', keys: 'new', policy: brief },
}

/** The hot key once more, for subjects that bring policies of their own. */
export const eachAlgorithm = { id: 'each-algorithm', title: 'hot key, every call admitted, each algorithm', keys: 'hot', policy: ample }

/** `count` keys, each as likely as the next: the worst that a cache can meet. */
export function uniform(count) {
  return { id: `uniform-${count}`, title: `${count.toLocaleString('en-US')} keys, each as likely`, keys: 'uniform', count, policy: lasting }
}

/** Throws unless `admitted` is what the shape's policy admits in `elapsedMs`; fixed windows may meet an edge. */
export function checkTotal(subject, shape, { calls, admitted, elapsedMs }) {
  const { limit, periodMs, burst } = shape.policy
  let [least, most] = [calls, calls]
  if (shape.denied && subject.floor) [least, most] = [0, 0]
  else if (shape.denied) {
    least = Math.min(calls, burst)
    most = subject.windows ? burst * (1 + Math.ceil(elapsedMs / periodMs)) : burst + 1 + Math.ceil((limit / periodMs) * elapsedMs)
  }
  if (admitted >= least && admitted <= most) return
  throw new Error(`${subject.id}, ${shape.title}: ${calls} calls admitted ${admitted}, not ${least} to ${most}; no figure is printed`)
}
