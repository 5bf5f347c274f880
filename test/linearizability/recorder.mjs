/**
 * One thread of a history: calls the limiter, and writes down what was asked and answered, between which two
 * numbers of one counter that all threads share, and at which readings of the clock.
 *
 * Short calls seldom overlap on a machine of few cores, so each shared access first gives way to other threads
 * now and then: the code under test is unchanged, its `Atomics` are slower.
 */
import { parentPort } from 'node:worker_threads'
import { RateLimiter, SharedClock } from 'hotbucket'
import { broken } from '../twins/faults.mjs'
import { Gate } from '../workers/gate.mjs'

const real = Object.fromEntries(Object.getOwnPropertyNames(Atomics).map((name) => [name, Atomics[name]]))
const nap = new Int32Array(new SharedArrayBuffer(4))

/** A small generator of its own, so that a seed gives the same calls again (mulberry32). */
function randomOf(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Has this thread's shared accesses give way with the probability that `pace.often` says. */
function slowed(random, pace) {
  for (const name of ['load', 'store', 'compareExchange', 'add']) {
    const access = Atomics[name]
    Atomics[name] = (cells, at, a, b) => {
      if (random() < pace.often) real.wait(nap, 0, 0, 0.001)
      return access(cells, at, a, b)
    }
  }
}

/** The calls of this thread in `count` histories; between histories the clock jumps by `settleMs`, so that every bucket is full. */
function record({ handle, seed, index, size, gate, sequence, count, verbs, keys, pool, rounds, calls, freeTicks, tickMs, settleMs, often }) {
  const random = randomOf(seed + index)
  const below = (end) => Math.floor(random() * end)
  const shared = new SharedClock(handle.clock)
  let readings = []
  const clock = {
    nowMs() {
      const ms = shared.nowMs()
      readings.push(ms)
      return ms
    },
  }
  const limiter = RateLimiter.attach(handle, { clock })
  const meeting = new Gate(gate, size)
  const counter = new Int32Array(sequence)
  const pace = { often: 0 }
  slowed(random, pace)

  function recorded(verb, key, cost, act) {
    readings = []
    const invoked = real.add(counter, 0, 1)
    const answer = act()
    const returned = real.add(counter, 0, 1)
    return { thread: index, verb, key, cost, answer, invoked, returned, readings, lastMs: shared.nowMs() }
  }
  const tick = (ms) => recorded('tick', '', ms, () => shared.advance(ms))
  const acts = {
    allow: (key, cost) => limiter.allow(key, cost),
    consume: (key, cost) => pick(limiter.consume(key, cost)),
    peek: (key, cost) => pick(limiter.peek(key, cost)),
    refund: (key, cost) => void limiter.refund(key, cost),
    reset: (key) => void limiter.reset(key),
  }
  const pick = ({ allowed, remaining }) => ({ allowed, remaining })

  const histories = []
  for (let history = 0; history < count; history++) {
    const events = []
    meeting.meet()
    if (index === 0) {
      shared.advance(settleMs + below(settleMs))
      events.push({ thread: index, verb: 'start', key: '', cost: 0, invoked: 0, returned: 0, readings: [], lastMs: shared.nowMs() })
    }
    for (let round = 0; round < rounds; round++) {
      meeting.meet()
      pace.often = random() * often
      for (let call = 0; call < calls; call++) {
        if (freeTicks && below(4) === 0) events.push(tick(below(tickMs)))
        const verb = verbs[below(verbs.length)]
        const key = `key ${(history * keys + below(keys)) % pool}`
        const cost = 1 + below(below(3) + 1)
        events.push(recorded(verb, key, cost, () => acts[verb](key, cost)))
      }
      pace.often = 0
      meeting.meet()
      if (index === 0 && round + 1 < rounds) events.push(tick(below(tickMs)))
    }
    histories.push(events)
  }
  return histories
}

parentPort.on('message', (job) => {
  const mend = broken(job.fault)
  try {
    parentPort.postMessage({ result: record(job) })
  } catch (error) {
    parentPort.postMessage({ error: error.stack })
  } finally {
    mend()
  }
})
parentPort.postMessage('ready')
