/**
 * Everything at once, for as long as wanted: `npm run stress`.
 *
 *   HOTBUCKET_STRESS_SECONDS   how long; 60 by default
 *   HOTBUCKET_SEED             the seed of the run; printed
 *   --sync cas|mutex, --scenario NAME, --algorithm NAME   only these
 *   --round N                  only round N of the run
 *   --explore                  instead, every schedule of the models of test/explorer, to their deep bounds
 *   --twin[=FAULT]             threads that break their promises (load-store by default): a violation must be found
 *
 * Prints a line for each round, then totals. Exits with 1 at the first violation, and says how to repeat the round.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { Crew, SIZE } from './crew.mjs'
import { algorithms, scenarios } from './plans.mjs'
import { runRound } from './round.mjs'

const args = process.argv.slice(2).map((arg) => (arg === '--twin' ? '--twin=load-store' : arg))
const text = { type: 'string' }
const { values } = parseArgs({ args, options: { sync: text, scenario: text, algorithm: text, round: text, twin: text, explore: { type: 'boolean' } } })
if (values.explore) {
  const models = ['vitest', 'run', '--config', 'test/vitest.config.ts', 'test/explorer/protocol.test.ts', 'test/explorer/twins.test.ts']
  process.exit(spawnSync('npx', models, { stdio: 'inherit', env: { ...process.env, HOTBUCKET_EXPLORE: 'deep' } }).status ?? 1)
}
const seconds = Number(process.env.HOTBUCKET_STRESS_SECONDS ?? 60)
const seed = Number(process.env.HOTBUCKET_SEED ?? (Math.random() * 0x7fffffff) | 0)

const plans = []
for (const [scenario, { name }] of scenarios.entries()) {
  for (const [algorithm, { name: algorithmName }] of algorithms.entries()) {
    for (const sync of ['cas', 'mutex']) {
      if ((values.sync ?? sync) !== sync || (values.scenario ?? name) !== name || (values.algorithm ?? algorithmName) !== algorithmName) continue
      plans.push({ sync, scenario, algorithm })
    }
  }
}
if (plans.length === 0) throw new Error(`nothing to run: scenarios are ${scenarios.map(({ name }) => name).join(', ')}; algorithms ${algorithms.map(({ name }) => name).join(', ')}`)

// Short runs still see every plan, long ones stay longer in each.
const ms = Math.min(2_000, Math.max(10, (seconds * 1_000) / plans.length / 2))
console.log(`HOTBUCKET_SEED=${seed}, Node ${process.version}, ${SIZE} threads, ${seconds} s, ${plans.length} plans${values.twin === undefined ? '' : `, twin ${values.twin}`}`)

const crew = new Crew()
const totals = { rounds: 0, calls: 0, admitted: 0, kills: 0, reclaimed: 0, tableFull: 0, casRetries: 0, lockTimeouts: 0 }
const endsAt = performance.now() + seconds * 1_000
for (let round = Number(values.round ?? 0); performance.now() < endsAt; round++) {
  const plan = plans[round % plans.length]
  const { violations, ...figures } = await runRound(crew, { ...plan, seed: seed + 1_000 * round, ms, fault: values.twin })
  totals.rounds++
  for (const [name, figure] of Object.entries(figures)) totals[name] += figure
  const [scenario, algorithm] = [scenarios[plan.scenario].name, algorithms[plan.algorithm].name]
  console.log(`round ${round}: ${scenario}, ${algorithm}, ${plan.sync}: ${told(figures)}${violations.length === 0 ? '' : ' VIOLATED'}`)
  if (violations.length > 0) {
    for (const violation of violations.slice(0, 10)) console.log(`  ${violation}`)
    console.log(`VIOLATION in round ${round} of seed ${seed}; again: HOTBUCKET_SEED=${seed} npm run stress -- --round ${round} ${repeated()}`)
    process.exitCode = 1
    break
  }
  if (values.round !== undefined) break
}
crew.end()
console.log(`total: ${told(totals)}; ${process.exitCode === 1 ? 'VIOLATED' : 'no violation'}`)

function told(figures) {
  return Object.entries(figures)
    .filter(([, figure]) => figure > 0)
    .map(([name, figure]) => `${figure.toLocaleString('en')} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
    .join(', ')
}

function repeated() {
  return Object.entries(values)
    .filter(([name]) => name !== 'round')
    .map(([name, value]) => `--${name}='${value}'`)
    .join(' ')
}
