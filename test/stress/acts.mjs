/** What one thread does in a round. Its counts lie in shared memory, so that they outlive it. */
import { RateLimiter, SharedClock } from 'hotbucket'
import { Gate } from '../workers/gate.mjs'
import { algorithms, PERIOD_MS } from './plans.mjs'
import { randomOf } from './random.mjs'

// Held before any twin breaks them: the bookkeeping is never part of the fault.
const { load, store, wait } = Atomics
/** What the control cell says. */
export const [GO_ON, END, PAUSE] = [0, 1, 2]
const NEVER_REFUSED = 0x7fffffff

/** The units that each thread was admitted and gave back by key, its calls, and how the clock has risen. */
export class Ledger {
  constructor({ rows, keys, buffers }) {
    this.buffers = buffers ?? {
      admitted: new SharedArrayBuffer(4 * rows * keys),
      refunded: new SharedArrayBuffer(4 * rows * keys),
      refused: new SharedArrayBuffer(4 * rows * keys),
      calls: new SharedArrayBuffer(4 * rows),
      control: new SharedArrayBuffer(8),
      rise: new SharedArrayBuffer(8 * 5),
    }
    this.keys = keys
    for (const name of ['admitted', 'refunded', 'refused', 'calls', 'control']) this[name] = new Int32Array(this.buffers[name])
    /** Milliseconds and edges by which the clock's greatest value rose; the same of every rise; the greatest value. */
    this.rise = new Float64Array(this.buffers.rise)
  }

  /** The sum over all threads of one list for one key. */
  sum(list, key) {
    let sum = 0
    for (let at = key; at < list.length; at += this.keys) sum += load(list, at)
    return sum
  }
}

/** A handle names the policies of its time: this thread tries those that take turns until it meets the one that holds. */
function attached({ handle, algorithm, policies, limit, periodMs }) {
  const { policy, doubled } = algorithms[algorithm]
  const turns = policies === 'changed' ? [policy(limit, periodMs), doubled(limit, periodMs)] : [handle.tiers.default]
  for (let turn = 0; ; turn++) {
    try {
      return RateLimiter.attach({ ...handle, tiers: { default: turns[turn % turns.length] } })
    } catch (error) {
      if (error.code !== 'ERR_HOTBUCKET_HANDLE' || turn >= 1_000) throw error
    }
  }
}

class Actor {
  constructor(round) {
    const { index, row, seed, keys, zipf, refunds } = round
    Object.assign(this, { index, row, keys, zipf, refunds })
    this.limiter = attached(round)
    this.ledger = new Ledger(round)
    this.random = randomOf(seed + row)
    this.calls = this.allowed = 0
    /** What was spent of each key before this epoch: in a gated round it is not refunded, since it may have come back already. */
    this.settled = new Int32Array(keys)
  }

  settle() {
    const { admitted, refunded } = this.ledger
    for (let key = 0, at = this.row * this.keys; key < this.keys; key++, at++) this.settled[key] = load(admitted, at) - load(refunded, at)
  }

  below(end) {
    return Math.floor(this.random() * end)
  }

  /** One call, or one refund of what this thread was admitted. */
  call() {
    const { ledger, keys, row } = this
    const key = this.zipf ? Math.min(keys - 1, Math.floor(keys ** this.random()) - 1) : this.below(keys)
    const at = row * keys + key
    const cost = 1 + this.below(3)
    const [admitted, refunded] = [load(ledger.admitted, at), load(ledger.refunded, at)]
    if (this.refunds && admitted - refunded - this.settled[key] >= cost && this.below(3) === 0) {
      // Written down first: a thread that is killed may have refunded less than it says, not more.
      store(ledger.refunded, at, refunded + cost)
      this.limiter.refund(`key ${key}`, cost)
    } else {
      this.calls++
      if (this.limiter.allow(`key ${key}`, cost)) {
        store(ledger.admitted, at, admitted + cost)
        this.allowed++
      } else store(ledger.refused, at, Math.min(cost, load(ledger.refused, at)))
    }
    store(ledger.calls, row, load(ledger.calls, row) + 1)
  }
}

/** Epochs behind a gate: in each the clock stands, and after it the first thread checks every key. */
export function gated(round) {
  const actor = new Actor(round)
  const { ledger, limiter, index, row, keys } = actor
  const { refusesEarly } = algorithms[round.algorithm]
  const clock = new SharedClock(round.handle.clock)
  const gate = new Gate(round.gate, round.size)
  const remaining = () => Array.from({ length: keys }, (_, key) => limiter.peek(`key ${key}`).remaining)
  const spent = () => Array.from({ length: keys }, (_, key) => ledger.sum(ledger.admitted, key) - ledger.sum(ledger.refunded, key))
  const violations = []
  let before = index === 0 ? remaining() : []
  let spentBefore = index === 0 ? spent() : []

  function check() {
    const after = remaining()
    const spentAfter = spent()
    const { keys: held, capacity, tableFull } = limiter.stats()
    if (held > capacity) violations.push(`${held} keys in ${capacity} slots`)
    for (let key = 0; key < keys; key++) {
      const wanted = before[key] - (spentAfter[key] - spentBefore[key])
      // With more keys than slots, peek tells of a key without a slot whether one could be had, not what it has left.
      if (keys <= capacity && after[key] !== wanted) violations.push(`key ${key}: ${after[key]} left, ${wanted} expected`)
      let least = NEVER_REFUSED
      for (let other = 0; other < round.size; other++) least = Math.min(least, load(ledger.refused, other * keys + key))
      if (after[key] >= least && !refusesEarly && !round.refunds && tableFull === 0) violations.push(`key ${key}: a cost of ${least} was refused, ${after[key]} left`)
    }
  }

  for (let end = false; !end; ) {
    for (let key = 0; key < keys; key++) store(ledger.refused, row * keys + key, NEVER_REFUSED)
    actor.settle()
    gate.meet()
    for (let call = 0; call < 400; call++) actor.call()
    gate.meet()
    if (index === 0) {
      check()
      clock.advance(actor.below(8) === 0 ? PERIOD_MS * 3 : actor.below(round.tickMs ?? PERIOD_MS))
      before = remaining()
      spentBefore = spent()
      if (violations.length > 0 || load(ledger.control, 0) === END) store(ledger.control, 1, 1)
    }
    gate.meet()
    end = load(ledger.control, 1) !== 0
  }
  return { calls: actor.calls, allowed: actor.allowed, violations }
}

/** The clock, and the rises it has made, as only the first thread moves it. */
class Mover {
  #clock
  #rise
  #actor
  #jumps
  #at

  constructor(actor, { handle, jumps }) {
    this.#clock = new SharedClock(handle.clock)
    this.#rise = actor.ledger.rise
    this.#actor = actor
    this.#jumps = jumps
    this.#at = this.#clock.nowMs()
  }

  move() {
    const kind = this.#jumps ? this.#actor.below(50) : 49
    const greatest = this.#rise[4]
    if (kind === 0) this.#to(this.#at + this.#actor.below(3 * PERIOD_MS))
    else if (kind === 1) this.#to(Math.max(0, this.#at - this.#actor.below(PERIOD_MS)))
    else if (kind === 2) this.#to(greatest)
    else this.#to(this.#at + this.#actor.below(4))
  }

  #to(ms) {
    const rise = this.#rise
    const edges = (from) => Math.min(1, Math.floor(ms / PERIOD_MS) - Math.floor(from / PERIOD_MS))
    const add = (at, from) => {
      if (ms <= from) return
      rise[at] += Math.min(PERIOD_MS, ms - from)
      rise[at + 1] += edges(from)
    }
    // Written down first: what the clock then allows is known.
    add(0, rise[4])
    add(2, this.#at)
    rise[4] = Math.max(rise[4], ms)
    this.#clock.set((this.#at = ms))
  }
}

/** Calls until the end, while the first thread moves the clock and sets policies. */
export function free(round) {
  const actor = new Actor(round)
  const { ledger, limiter, index } = actor
  const mover = index === 0 ? new Mover(actor, round) : undefined
  const { policy, doubled } = algorithms[round.algorithm]
  const turns = round.policies === 'changed' ? [doubled, policy] : [policy]
  let changes = 0
  while (load(ledger.control, 0) !== END) {
    wait(ledger.control, 0, PAUSE)
    for (let call = 0; call < 32; call++) actor.call()
    if (round.sweeps && actor.below(100) === 0) limiter.sweep()
    if (mover === undefined) continue
    mover.move()
    if (round.policies !== undefined && actor.below(20) === 0) limiter.setPolicy('default', turns[changes++ % turns.length](round.limit, round.periodMs))
  }
  return { calls: actor.calls, allowed: actor.allowed, violations: [], changes }
}
