/** What crews do. Each job attaches, meets the others at the gate, and returns plain numbers. */
import { RateLimiter, SharedClock } from 'hotbucket'
import { Ticks } from '../../dist/clock/ticks.js'

/** How many of `calls` are allowed on each key of `rounds` new ones, all threads on the same key at once. */
export function hammer({ handle, rounds, calls, costs = [1], gate }) {
  const limiter = RateLimiter.attach(handle)
  return Array.from({ length: rounds }, (_, round) => {
    const key = `round ${round}`
    let spent = 0
    gate.meet()
    for (let call = 0; call < calls; call++) {
      const cost = costs[call % costs.length]
      if (limiter.allow(key, cost)) spent += cost
    }
    return spent
  })
}

/** How many of `keys` new keys, met once each in the same order, this thread is admitted on. */
export function meetKeys({ handle, keys, atOnce, gate }) {
  const limiter = RateLimiter.attach(handle)
  let admitted = 0
  gate.meet()
  for (let key = 0; key < keys; key++) {
    if (atOnce) gate.meet()
    if (limiter.allow(`key ${key}`)) admitted++
  }
  return admitted
}

/** What one client gets of a Map in each worker: the lie. */
export function ownMap({ limit, calls, gate }) {
  const used = new Map()
  let admitted = 0
  gate.meet()
  for (let call = 0; call < calls; call++) {
    const count = used.get('client') ?? 0
    if (count >= limit) continue
    used.set('client', count + 1)
    admitted++
  }
  return admitted
}

/** What one client gets of the one limiter. */
export function oneLimiter({ handle, calls, gate }) {
  const limiter = RateLimiter.attach(handle)
  let admitted = 0
  gate.meet()
  for (let call = 0; call < calls; call++) if (limiter.allow('client')) admitted++
  return admitted
}

/**
 * Spends all there is while the clock moves: a thread moves it by 1 ms when it has been refused, so that the
 * bucket is never full. When the clock has reached `endMs` all spend what is left.
 */
export function spendAll({ handle, endMs, gate }) {
  const limiter = RateLimiter.attach(handle)
  const clock = new SharedClock(handle.clock)
  let admitted = 0
  gate.meet()
  while (clock.nowMs() < endMs) {
    if (limiter.allow('hot')) admitted++
    else clock.advance(1)
  }
  gate.meet()
  while (limiter.allow('hot')) admitted++
  return { admitted, reachedMs: clock.nowMs() }
}

/** As `spendAll`, but says of each admission between which two readings of the clock it was made. */
export function spendTimed({ handle, endMs, gate }) {
  const limiter = RateLimiter.attach(handle)
  const clock = new SharedClock(handle.clock)
  const admitted = []
  gate.meet()
  for (let before = clock.nowMs(); before < endMs; before = clock.nowMs()) {
    if (limiter.allow('hot')) admitted.push([before, clock.nowMs()])
    else clock.advance(1)
  }
  return admitted
}

/** A small generator of its own, so that a seed gives the same order of keys again (mulberry32). */
function randomOf(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shuffled(count, random) {
  const order = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j], order[i]]
  }
  return order
}

/** In each epoch tries every key in an order of its own, and once more; then one thread moves the clock. Returns the keys admitted. */
export function churn({ handle, keys, epochs, epochMs, seed, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  const clock = new SharedClock(handle.clock)
  const random = randomOf(seed + index)
  const admitted = []
  for (let epoch = 0; epoch < epochs; epoch++) {
    const passed = []
    for (let pass = 0; pass < 2; pass++) {
      gate.meet()
      for (const key of shuffled(keys, random)) if (limiter.allow(`key ${key}`)) passed.push(key)
    }
    admitted.push(passed)
    gate.meet()
    if (index === 0) clock.advance(epochMs)
  }
  return admitted
}

/** Random keys while the clock runs: each refusal moves it a little. Returns the admissions of each key. */
export function churnFreely({ handle, keys, calls, stepMs, seed, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  const clock = new SharedClock(handle.clock)
  const random = randomOf(seed + index)
  const admitted = new Array(keys).fill(0)
  gate.meet()
  for (let call = 0; call < calls; call++) {
    const key = Math.floor(random() * keys)
    if (limiter.allow(`key ${key}`)) admitted[key]++
    else if (call % 16 === 0) clock.advance(stepMs)
  }
  return admitted
}

/** Attaches `times` times and calls through each attachment, all of them held until the end. */
export function attachOften({ handle, times, calls, index, gate }) {
  gate.meet()
  const attached = Array.from({ length: times }, () => RateLimiter.attach(handle))
  gate.meet()
  for (let call = 0; call < calls; call++) {
    for (const limiter of attached) {
      limiter.allow(`hot ${index}`)
      limiter.allow('drained')
    }
  }
  return times
}

/** Calls once on each of `keys` fresh keys of its own. Returns how many were admitted. */
export function flood({ handle, keys, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  let admitted = 0
  gate.meet()
  for (let key = 0; key < keys; key++) if (limiter.allow(`flood ${index} ${key}`)) admitted++
  return admitted
}

/** Attaches, calls once and lets go. */
export function callOnce({ handle, key }) {
  return RateLimiter.attach(handle).allow(key)
}

/** Calls on one key as often as told, with a little work of random length inside each lock-free gap. */
export function lockCycles({ handle, calls, seed, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  const random = randomOf(seed + index)
  let [admitted, work] = [0, 0]
  gate.meet()
  for (let call = 0; call < calls; call++) {
    if (limiter.allow('K')) admitted++
    for (let turns = random() * 200; turns > 0; turns--) work++
  }
  return work > 0 ? admitted : -1
}

/** Attaches and calls until the count in shared memory is reached, and shows its own count there. */
export function showProgress({ handle, progress, wanted }) {
  const limiter = RateLimiter.attach(handle)
  console.log('a line on standard output, which the main thread prints')
  for (let calls = 0; calls < wanted; calls++) {
    limiter.allow('K')
    Atomics.store(progress, 0, calls + 1)
  }
  return wanted
}

/**
 * On each of `rounds` new keys every thread but the last spends, while the last one sets one policy after another.
 * Returns what this thread spent of each key.
 */
export function spendThroughChanges({ handle, rounds, calls, changes, index, size, gate }) {
  const limiter = RateLimiter.attach(handle)
  return Array.from({ length: rounds }, (_, round) => {
    const key = `round ${round}`
    let spent = 0
    gate.meet()
    if (index === size - 1) for (const policy of changes) limiter.setPolicy('default', policy)
    else for (let call = 0; call < calls; call++) if (limiter.allow(key)) spent++
    // After the last change everyone drains what the last policy leaves.
    gate.meet()
    if (index === size - 1) return spent
    while (limiter.allow(key)) spent++
    return spent
  })
}

/**
 * The last thread sets each policy in turn, on keys that all have met; when `setPolicy` has returned to it, every thread
 * says which limit its next call obeys, and takes what it can get of a new key. Returns [limit, taken] for each change.
 */
export function obeyChanges({ handle, changes, calls, index, size, gate }) {
  const limiter = RateLimiter.attach(handle)
  limiter.allow('met')
  return changes.map((policy, change) => {
    gate.meet()
    if (index === size - 1) limiter.setPolicy('default', policy)
    gate.meet()
    const { limit } = limiter.consume('met')
    let taken = 0
    for (let call = 0; call < calls; call++) if (limiter.allow(`change ${change}`)) taken++
    return [limit, taken]
  })
}

/** Spends and gives back at random, one unit at a time; returns how many units this thread holds of each key in the end. */
export function spendAndRefund({ handle, rounds, calls, seed, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  const random = randomOf(seed + index)
  return Array.from({ length: rounds }, (_, round) => {
    const key = `round ${round}`
    let held = 0
    gate.meet()
    for (let call = 0; call < calls; call++) {
      if (held > 0 && random() < 0.45) {
        limiter.refund(key)
        held--
      } else if (limiter.allow(key)) held++
    }
    return held
  })
}

/** In each round all threads spend, then `resetters` of them reset the key, then all spend again. Returns what was spent after each. */
export function spendAndReset({ handle, rounds, calls, resetters, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  const spend = () => {
    let spent = 0
    gate.meet()
    for (let call = 0; call < calls; call++) if (limiter.allow('k')) spent++
    return spent
  }
  return Array.from({ length: rounds }, () => {
    const spent = spend()
    gate.meet()
    if (index < resetters) limiter.reset('k')
    return spent
  })
}

/** The first threads reset the key now and then while the others spend. Returns [spent, resets]. */
export function spendWhileReset({ handle, calls, resetters, index, gate }) {
  const limiter = RateLimiter.attach(handle)
  let [spent, resets] = [0, 0]
  gate.meet()
  for (let call = 0; call < calls; call++) {
    if (index < resetters && call % 100 === 99) {
      limiter.reset('k')
      resets++
    } else if (limiter.allow('k')) spent++
  }
  return [spent, resets]
}

/**
 * Publishes the time and reads it, and passes each reading on to the others; how often a reading was older than one
 * of this thread's own or one it had been passed.
 */
export function passTime({ handle, told, rounds, gate }) {
  const ticks = new Ticks(handle)
  let [last, back] = [-Infinity, 0]
  gate.meet()
  for (let round = 0; round < rounds; round++) {
    ticks.publish()
    const heard = Number(Atomics.load(told, 0)) / 1_000
    ticks.catchUp()
    const ms = ticks.nowMs()
    if (ms < last || ms < heard) back++
    last = ms
    Atomics.store(told, 0, BigInt(Math.floor(ms * 1_000)))
  }
  return back
}
