/**
 * What the machine asks for the least that any shared limiter must do. Everything else is a ratio to it.
 *
 * One hot key: a clock read, `Map.get`, one load and one compareExchange; where calls are refused, no exchange.
 * Many keys: a clock read, a hash of the string, one load and one compareExchange at the slot it picks.
 * On the coarse clock the clock read is one plain load of the ticker's word.
 * No arithmetic, no identity, no counting: a floor is not a limiter.
 */

import { ticker } from './clocks.mjs'

/** As many slots as an arena for the shape's keys has, to the nearest power of two below. */
const slotsFor = ({ count = 100_000 }) => 2 ** Math.floor(Math.log2(count * 1.6))
const STRIDE_BYTES = 16
const HOT = '203.0.113.7:443'
/** Where a coarse clock's buffer has the time. */
const TIME_WORD = 8

function hash(key) {
  let h = 0x811c9dc5
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  return h ^ (h >>> 13)
}

/** The hot key among a few others, as the near cache of a server would hold it. */
function nearMap() {
  return new Map([['a', 0], ['b', 64], [HOT, 128], ['c', 192]])
}

/** The least loop: one load, and one exchange for each try. */
function swapper(cells) {
  let retries = 0
  const swap = (slot, now) => {
    let seen = Atomics.load(cells, slot)
    for (;;) {
      const was = Atomics.compareExchange(cells, slot, seen, now)
      if (was === seen) return true
      retries++
      seen = was
    }
  }
  return { swap, retries: () => retries }
}

const share = (shape) => new SharedArrayBuffer(slotsFor(shape) * STRIDE_BYTES)

function openBigInt(buffer, shape) {
  const words = new BigInt64Array(buffer)
  const hrtime = process.hrtime.bigint
  const near = nearMap()
  const { swap, retries } = swapper(words)
  const mask = slotsFor(shape) - 1
  if (shape.denied) words[near.get(HOT)] = 2n ** 62n
  const call = shape.denied
    ? (key) => {
        const now = hrtime()
        return Atomics.load(words, near.get(key)) <= now
      }
    : shape.keys === 'hot'
      ? (key) => {
          const now = hrtime()
          return swap(near.get(key), now)
        }
      : (key) => {
          const now = hrtime()
          return swap((hash(key) & mask) * (STRIDE_BYTES / 8), now)
        }
  return { call, retries }
}

function openInt(buffer, shape) {
  const cells = new Int32Array(buffer)
  const { performance } = globalThis
  const near = nearMap()
  const { swap, retries } = swapper(cells)
  const mask = slotsFor(shape) - 1
  if (shape.denied) cells[near.get(HOT)] = 2 ** 31 - 1
  const call = shape.denied
    ? (key) => {
        const now = performance.now()
        return Atomics.load(cells, near.get(key)) <= now
      }
    : shape.keys === 'hot'
      ? (key) => {
          const now = performance.now()
          return swap(near.get(key), (now * 1_000) | 0)
        }
      : (key) => {
          const now = performance.now()
          return swap((hash(key) & mask) * (STRIDE_BYTES / 4), (now * 1_000) | 0)
        }
  return { call, retries }
}

/** The hot key of `openBigInt`, its time a word that the coarse clock's ticker publishes: read as it is, by a plain load. */
function openTicks({ buffer, clock }, shape) {
  const words = new BigInt64Array(buffer)
  const time = new BigInt64Array(clock.buffer)
  const near = nearMap()
  const { swap, retries } = swapper(words)
  if (shape.denied) words[near.get(HOT)] = 2n ** 62n
  const call = shape.denied
    ? (key) => Atomics.load(words, near.get(key)) <= time[TIME_WORD]
    : (key) => {
        const now = time[TIME_WORD]
        return swap(near.get(key), now)
      }
  return { call, retries }
}

/** One atomic addition and nothing else: no limiter, but the most that one shared word can take. */
function openAdd(buffer) {
  const cells = new Int32Array(buffer)
  return { call: () => Atomics.add(cells, 128, 1) !== 2 ** 31 - 1, retries: () => 0 }
}

export const floors = [
  { id: 'floor-bigint', label: 'floor: hrtime + BigInt64', floor: true, threads: true, share, open: openBigInt },
  { id: 'floor-int', label: 'floor: performance.now + Int32', floor: true, threads: true, share, open: openInt },
]

export const coarseFloor = {
  id: 'floor-ticks',
  label: 'floor: shared time word + BigInt64',
  floor: true,
  threads: true,
  share: (shape) => ({ buffer: share(shape), clock: ticker().handle }),
  open: openTicks,
}

export const atomicsAdd = { id: 'atomics-add', label: 'one Atomics.add', bare: true, threads: true, share, open: openAdd }

