/**
 * Broken twins: the unchanged code on a worker's own `Atomics`, with one of its promises taken back. What passes
 * on the real one must fail on these, or the test proves nothing.
 */
const real = { ...Object.fromEntries(Object.getOwnPropertyNames(Atomics).map((name) => [name, Atomics[name]])) }
const nap = new Int32Array(new SharedArrayBuffer(4))
let turn = 0

/** The exit code of a thread that has waited without end. */
export const WEDGED = 7

/** Gives way to other threads now and then, so that the gap is met on a machine of few cores too. */
function giveWay() {
  if (++turn % 8 === 0) real.wait(nap, 0, 0, 0.001)
}

const faults = {
  /** A plain load, a look and a plain store: two threads may both see the same tokens, or the same free slot. */
  'load-store': () => {
    Atomics.compareExchange = (cells, at, expected, replacement) => {
      const seen = cells[at]
      giveWay()
      if (seen === expected) cells[at] = replacement
      return seen
    }
  },
  /** Nobody is ever woken: a two-state lock that forgets who waits. */
  'lost-wake-up': () => {
    Atomics.notify = () => 0
  },
  /** Locks that are waited for without end; a thread that has waited very long for one holder ends. */
  'endless-wait': () => {
    let [lock, holder, waits] = [-1, 0, 0]
    Atomics.wait = (cells, at, value) => {
      waits = lock === at && holder === value ? waits + 1 : 0
      ;[lock, holder] = [at, value]
      // Not an exception: the code under test takes one for a thread that may not block.
      if (waits > 2_000) process.exit(WEDGED)
      real.wait(nap, 0, 0, 0.001)
      return cells[at] === value ? 'ok' : 'not-equal'
    }
  },
  /** The version of the policies is read once, and what it was then is believed for ever. */
  'stale-policy': () => {
    const [POLICY_VERSION, first] = [14, new WeakMap()]
    Atomics.load = (cells, at) => {
      if (!(cells instanceof Int32Array) || at !== POLICY_VERSION) return real.load(cells, at)
      if (!first.has(cells.buffer)) first.set(cells.buffer, real.load(cells, at))
      return first.get(cells.buffer)
    }
  },
  /** Counters read, then written. */
  'torn-counter': () => {
    Atomics.add = (cells, at, value) => {
      const seen = cells[at]
      giveWay()
      cells[at] = seen + value
      return seen
    }
  },
}

/** Breaks this thread's `Atomics` until the returned function mends it. */
export function broken(fault) {
  faults[fault]?.()
  return () => Object.assign(Atomics, real)
}
