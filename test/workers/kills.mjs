/**
 * A process that terminates workers at random while they spend on one key, prints what it saw, and ends by itself.
 * Arguments: sync, kills, seed, fault.
 */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { RateLimiter, SharedClock, tokenBucket } from 'hotbucket'
import { WEDGED } from '../twins/faults.mjs'

const [sync, kills, seed, fault] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4]), process.argv[5]]
const CREW = 4
const BURST = 2_000_000_000
const [GO_ON, PAUSE, END] = [0, 1, 2]
const policy = tokenBucket({ limit: 1_000, periodMs: 1_000, burst: BURST })
// The clock stands, so nothing is refilled: every token that is spent is missed for good.
const limiter = new RateLimiter({ policy, sync, maxKeys: 1, clock: new SharedClock(), lockTimeoutMs: 5 })
const counts = new Int32Array(new SharedArrayBuffer(4 * (CREW + kills)))
const control = new Int32Array(new SharedArrayBuffer(4))
let started = 0
let failure
let random = seed >>> 0

function randomBelow(end) {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((random / 2 ** 32) * end)
}

function spender() {
  const at = started++
  const worker = new Worker(new URL('spender.mjs', import.meta.url), { workerData: { handle: limiter.handle, counts, at, control, fault } })
  worker.on('error', (error) => (failure ??= error.message))
  worker.on('exit', (code) => code === WEDGED && (failure ??= 'wedged'))
  return { worker, at, ready: once(worker, 'message'), exit: once(worker, 'exit').catch(() => {}) }
}

function tell(what) {
  Atomics.store(control, 0, what)
  Atomics.notify(control, 0)
}

/** Resolves when every spender has been allowed some times more: the survivors of the last kill among them. */
async function goneOn() {
  const targets = spenders.map(({ at }) => Atomics.load(counts, at) + 1 + randomBelow(500))
  while (failure === undefined && spenders.some(({ at }, i) => Atomics.load(counts, at) < targets[i])) await setImmediate()
}

const spenders = []
let killed = 0
while (killed < kills && failure === undefined) {
  // Those that live pause while others start, else they would take the cores from them.
  tell(PAUSE)
  while (spenders.length < CREW) spenders.push(spender())
  await Promise.all(spenders.map(({ ready }) => ready))
  tell(GO_ON)
  await goneOn()
  while (spenders.length > 1 && killed < kills && failure === undefined) {
    const [victim] = spenders.splice(randomBelow(spenders.length), 1)
    await victim.worker.terminate()
    killed++
    await goneOn()
  }
}
tell(END)
await Promise.all(spenders.map(({ exit }) => exit))

const counted = counts.reduce((sum, each) => sum + each, 0)
const spent = BURST - limiter.peek('hot').remaining
// What is left can be spent to the last token.
const left = BURST - spent
const drained = limiter.allow('hot', left) && !limiter.allow('hot')
const { keys, lockTimeouts, contended } = limiter.stats()
console.log(JSON.stringify({ killed, counted, spent, drained, keys, lockTimeouts, contended, failure }))
