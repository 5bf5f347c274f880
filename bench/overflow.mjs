/**
 * How often a new key finds all sixteen slots of its group in use, by simulation of the table's own choice: of the
 * bucket that alone has a free slot, else of the one that has more to take, else of the home bucket; there the home slot
 * if it is free, else a free one, else the one that has been full for longest.
 *
 *   node bench/overflow.mjs          prints the table that native-layout.md quotes; the same seed, the same figures
 */
import { fileURLToPath } from 'node:url'

export const SEED = 20_250_101
const WAYS = 8
const BUCKETS = 1 << 12
const LIVE = Infinity
const FREE = -1
const TURNS = 4 * BUCKETS * WAYS

/** A small generator with a seed, so that a run can be repeated. */
function mulberry32(seed) {
  let a = seed | 0
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}

/** The slot that a new key takes in its home bucket `a`, where it prefers the way `home`, or in `b`; FREE when there is none. */
function choose(since, a, b, home) {
  const count = [0, 0]
  const victim = [FREE, FREE]
  const least = [LIVE, LIVE]
  for (let way = 0; way < 2 * WAYS; way++) {
    const half = way < WAYS ? 0 : 1
    const slot = (half === 0 ? a : b) * WAYS + (way % WAYS)
    if (since[slot] === LIVE) continue
    count[half]++
    if (since[slot] < least[half] || (way === home && since[slot] === least[half])) [least[half], victim[half]] = [since[slot], slot]
  }
  const oneHasFree = (least[0] === FREE) !== (least[1] === FREE)
  return (oneHasFree ? least[0] === FREE : count[0] >= count[1]) ? victim[0] : victim[1]
}

/**
 * One new key a turn. Each lives for as many turns as there are to be live keys, exactly or (`any`) on average.
 * Returns the new keys refused and tried: as the table fills for the first time, and in the long run.
 */
export function overflow(perBucket, any, seed = SEED) {
  const random = mulberry32(seed)
  /** When each slot's key became full; LIVE while it is not, FREE where there was none. */
  const since = new Float64Array(BUCKETS * WAYS).fill(FREE)
  const target = perBucket * BUCKETS
  /** The slots of the keys of the last `target` turns; FREE for one that was refused, or has gone. */
  const keys = new Int32Array(target).fill(FREE)
  const filling = { refused: 0, tried: target }
  const churning = { refused: 0, tried: TURNS }
  for (let turn = 0; turn < target + 2 * TURNS; turn++) {
    const place = any && turn >= target ? random() % target : turn % target
    if (keys[place] !== FREE) since[keys[place]] = turn
    const a = random() % BUCKETS
    const b = random() % BUCKETS
    const slot = choose(since, a, a === b ? (a + 1) % BUCKETS : b, random() % WAYS)
    keys[place] = slot
    if (slot !== FREE) since[slot] = LIVE
    else if (turn < target) filling.refused++
    // The first half of the turns uses up the slots that were never taken.
    else if (turn >= target + TURNS) churning.refused++
  }
  return { filling, churning }
}

export function rows() {
  return [4, 5, 6, 7, 8].map((perBucket) => {
    const { filling, churning } = overflow(perBucket, false)
    return { load: `${perBucket}/${WAYS}`, filling, exact: churning, any: overflow(perBucket, true).churning }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const share = ({ refused, tried }) => `${refused} of ${tried}`.padEnd(20)
  console.log(`seed ${SEED}, ${BUCKETS} buckets of ${WAYS} slots: new keys that found no slot`)
  console.log(`load   ${'first filling'.padEnd(20)} ${'equal lives'.padEnd(20)} random lives`)
  for (const { load, filling, exact, any } of rows()) console.log(`${load}    ${share(filling)} ${share(exact)} ${share(any)}`)
}
