/** One round: a limiter of one algorithm, four threads in one scenario, and what must hold of the totals. */
import { setTimeout } from 'node:timers/promises'
import { RateLimiter, SharedClock } from 'hotbucket'
import { END, GO_ON, Ledger, PAUSE } from './acts.mjs'
import { SIZE } from './crew.mjs'
import { algorithms, ENDLESS, PERIOD_MS, scenarios } from './plans.mjs'
import { randomOf } from './random.mjs'

const MOST_KILLS = 60
const MOST_COST = 3
/** Only a wedged thread is silent for so long. */
const SILENCE_MS = 30_000

/** Runs a round for about `ms`; resolves to its figures and what was violated. */
export async function runRound(crew, { sync, algorithm, scenario, seed, ms, fault }) {
  await crew.fill()
  const { policy, parts } = algorithms[algorithm]
  const plan = scenarios[scenario]
  // Only a token bucket's income is known at any moment.
  const exact = plan.drained === true && algorithm === 0
  const [limit, periodMs] = exact ? [ENDLESS, ENDLESS] : [plan.limit, PERIOD_MS]
  const clock = new SharedClock(1_000)
  const limiter = new RateLimiter({
    policy: policy(limit, periodMs),
    sync,
    maxKeys: plan.maxKeys ?? 4 * plan.keys * parts,
    clock,
    lockTimeoutMs: fault === undefined && plan.kills !== true ? 50 : 2,
  })
  const { capacity } = limiter.stats()
  const keys = plan.keys === 0 ? 4 * capacity : plan.keys
  const ledger = new Ledger({ rows: SIZE + MOST_KILLS, keys })
  ledger.rise[4] = clock.nowMs()
  if (exact) for (let key = 0; key < keys; key++) limiter.allow(`key ${key}`, ENDLESS)

  const round = { ...plan, keys, limit, periodMs, algorithm, seed, fault, size: SIZE, gate: new SharedArrayBuffer(8), buffers: ledger.buffers, rows: SIZE + MOST_KILLS, handle: limiter.handle }
  const violations = []
  const results = []
  const outcomes = Array.from({ length: SIZE }, (_, index) => crew.start(index, { ...round, index, row: index }))
  const rows = Array.from({ length: SIZE }, (_, index) => index)
  let kills = 0
  if (plan.kills) kills = await killAtRandom()
  else await setTimeout(ms)
  tell(END)
  await settle()
  if (violations.length === 0) check()
  const { reclaimed, tableFull, casRetries, lockTimeouts } = limiter.stats()
  return { violations, calls: ledger.calls.reduce((sum, each) => sum + each, 0), admitted: total(ledger.admitted), kills, reclaimed, tableFull, casRetries, lockTimeouts }

  function tell(what) {
    Atomics.store(ledger.control, 0, what)
    Atomics.notify(ledger.control, 0)
  }

  async function killAtRandom() {
    const random = randomOf(seed)
    const endsAt = performance.now() + ms
    let killed = 0
    while (performance.now() < endsAt && killed < MOST_KILLS && (await allGoOn(1 + Math.floor(random() * 300)))) {
      const index = 1 + Math.floor(random() * (SIZE - 1))
      await crew.kill(index)
      // Those that live pause while another starts, else they would take the cores from it.
      tell(PAUSE)
      await crew.replace(index)
      const row = (rows[index] = SIZE + killed++)
      outcomes[index] = crew.start(index, { ...round, index, row })
      tell(GO_ON)
    }
    await allGoOn(1)
    return killed
  }

  /** True when every thread has made `more` calls; else some thread is silent or has ended. */
  async function allGoOn(more) {
    const wanted = rows.map((row) => Atomics.load(ledger.calls, row) + more)
    const deadline = performance.now() + SILENCE_MS
    let ended = false
    for (const outcome of outcomes) void outcome.then(() => (ended = true))
    while (rows.some((row, i) => Atomics.load(ledger.calls, row) < wanted[i])) {
      if (ended) return false
      if (performance.now() > deadline) return violations.push(`a thread has made no call for ${SILENCE_MS} ms`) < 0
      await setTimeout(1)
    }
    return true
  }

  async function settle() {
    const silent = new AbortController()
    const late = setTimeout(SILENCE_MS, 'late', { signal: silent.signal }).catch(() => 'heard')
    for (const [index, outcome] of outcomes.entries()) {
      const told = await Promise.race([outcome, late])
      if (told === 'late') violations.push(`thread ${index} is wedged`)
      else if (told.error !== undefined || told.exited !== undefined) violations.push(`thread ${index}: ${told.error ?? `left with code ${told.exited}`}`)
      else results.push(told.result)
    }
    silent.abort()
    if (results.length < SIZE) await crew.abandon()
    for (const result of results) violations.push(...result.violations)
  }

  function total(list) {
    let sum = 0
    for (let key = 0; key < keys; key++) sum += ledger.sum(list, key)
    return sum
  }

  function check() {
    const stats = limiter.stats()
    if (stats.keys > capacity) violations.push(`${stats.keys} keys in ${capacity} slots`)
    if (stats.contended > 0) violations.push(`contended ${stats.contended} times`)
    if (plan.wantsFull && stats.tableFull === 0) violations.push('the table was never full')
    if (kills === 0) checkStats(stats)
    if (!plan.gated) checkBounds(stats)
  }

  function checkStats({ allowed, denied }) {
    const sum = (field) => results.reduce((all, result) => all + result[field], 0)
    const drains = exact ? keys : 0
    if (allowed !== sum('allowed') + drains) violations.push(`stats say ${allowed} allowed, threads ${sum('allowed') + drains}`)
    if (allowed + denied !== sum('calls') + drains) violations.push(`stats say ${allowed + denied} calls, threads ${sum('calls') + drains}`)
  }

  function checkBounds({ reclaimed }) {
    const { rise } = ledger
    clock.set(rise[4])
    // A thread behind the clock may begin a new bucket for a key whose old one was given away as full: after a step
    // back, time that passes again counts again.
    const seen = reclaimed > 0 ? { ms: rise[2], edges: rise[3] } : { ms: rise[0], edges: rise[1] }
    const factor = plan.policies === 'changed' ? algorithms[algorithm].doubling : 1
    const most = exact ? Math.floor((rise[4] - 1_000) * (limit / periodMs)) : algorithms[algorithm].most(factor * limit, periodMs, seen)
    // A killed thread has charged once and refunded once less than is written down, at most.
    const least = exact ? most - kills * MOST_COST * (plan.refunds ? 2 : 1) : 0
    for (let key = 0; key < keys; key++) {
      const spent = ledger.sum(ledger.admitted, key) - ledger.sum(ledger.refunded, key)
      const all = spent + limiter.peek(`key ${key}`).remaining
      // What was spent of a doubled limit and given back to a single one came back twice.
      const returned = (factor - 1) * ledger.sum(ledger.refunded, key)
      if (all > most + returned) violations.push(`key ${key}: ${spent} spent and ${all - spent} left, at most ${most + returned} in all`)
      if (all < least) violations.push(`key ${key}: ${spent} spent and ${all - spent} left, at least ${least} in all`)
    }
  }
}
