/** The README's example as it stands, with a real Piscina, and its tables against the code. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { Policy, RateLimiterOptions } from '../src/index.ts'
import * as hotbucket from '../src/index.ts'
import { fixedWindow, RateLimiter, SharedClock, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../src/index.ts'
import { Document } from './document.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(join(root, 'README.md'), 'utf8')
const page = new Document(text)
const folder = mkdtempSync(join(tmpdir(), 'hotbucket-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The names in back quotes in the column `name` of a table. */
function namesIn(head: readonly string[], column: string): string[] {
  return page.table(head).flatMap((row) => row[column]!.replace(/\([^)]*\)/g, '').split(', '))
}

function policyFrom(code: string): Policy {
  return new Function('hotbucket', `return hotbucket.${code}`)(hotbucket) as Policy
}

it('the example, copied from the first screen, admits 5 of 100 over a real pool (G1)', () => {
  const example = /```js\n([\s\S]*?)```/.exec(text)![1]!
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/hotbucket'), 'junction')
  symlinkSync(join(root, 'node_modules/piscina'), join(folder, 'node_modules/piscina'), 'junction')
  const files = example.split(/^\/\/ (\S+\.mjs)\n/m).slice(1)
  expect(files.filter((_, at) => at % 2 === 0)).toEqual(['server.mjs', 'worker.mjs'])
  for (let at = 0; at < files.length; at += 2) writeFileSync(join(folder, files[at]!), files[at + 1]!)
  const promised = /console\.log\(.*\/\/ (\d+)/.exec(example)![1]
  expect(execFileSync(process.execPath, [join(folder, 'server.mjs')], { encoding: 'utf8' })).toBe(`${promised}\n`)
  // Each worker for itself would have admitted more: the example shows something.
  const alone = files[3]!.replace('RateLimiter.attach(workerData)', 'new RateLimiter({ policy: { algorithm: "token-bucket", limit: 5, periodMs: 3_600_000 } })')
  writeFileSync(join(folder, 'worker.mjs'), alone)
  const pool = files[1]!.replace('workerData: limiter.handle', 'minThreads: 4, maxThreads: 4, concurrentTasksPerWorker: 1')
  writeFileSync(join(folder, 'server.mjs'), pool)
  expect(Number(execFileSync(process.execPath, [join(folder, 'server.mjs')], { encoding: 'utf8' }))).toBeGreaterThan(Number(promised))
})

it('every option named is one, with the default that it says', () => {
  const rows = page.table(['option', 'type', 'default', ''])
  const source = readFileSync(join(root, 'src/options.ts'), 'utf8')
  const declared = [...source.slice(0, source.indexOf('export interface AttachOptions')).matchAll(/^ {2}readonly (\w+)\?/gm)].map(([, name]) => name!)
  expect(new Set(rows.map(({ option }) => option))).toEqual(new Set([...declared, 'policy', 'tiers']))
  const policy = tokenBucket({ limit: 10, periodMs: 1_000 })
  const { capacity, bytes } = new RateLimiter({ policy }).stats()
  const defaults = Object.fromEntries(rows.map((row) => [row.option, row.default]))
  const maxKeys = Number(defaults.maxKeys!.replace('_', ''))
  expect(new RateLimiter({ policy, maxKeys, sync: 'cas', whenFull: 'deny' } satisfies RateLimiterOptions<'default'>).stats()).toMatchObject({ capacity, bytes })
  for (const option of ['sync', 'whenFull'] as const) {
    const choices = rows.find((row) => row.option === option)!.type!
    for (const choice of choices.match(/\w+/g)!) expect(() => new RateLimiter({ policy, [option]: choice } as never)).not.toThrow()
  }
  expect(new Int32Array(new RateLimiter({ policy, sync: 'mutex' }).handle.buffer)[11]).toBe(Number(defaults.lockTimeoutMs))
  const [least, most] = page.say(/gone; (\d+) to ([\d,]+)/).map((number) => Number(number.replace(',', ''))) as [number, number]
  for (const lockTimeoutMs of [least, most]) expect(() => new RateLimiter({ policy, lockTimeoutMs })).not.toThrow()
  for (const lockTimeoutMs of [least - 1, most + 1]) expect(() => new RateLimiter({ policy, lockTimeoutMs })).toThrow(/lockTimeoutMs/)
})

it('every verb named is there, and none is left out', () => {
  const named = namesIn(['verb', 'returns', ''], 'verb')
  const there = Object.getOwnPropertyNames(RateLimiter.prototype).filter((name) => name !== 'constructor')
  expect(named.sort()).toEqual(there.sort())
  const tier = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1 }) }).tier('default')
  expect(Object.keys(tier)).toHaveLength(6)
  for (const verb of Object.keys(tier)) expect(named).toContain(verb)
})

it('every field of stats() and of a Decision named is there, and none is left out', () => {
  const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1 }) })
  expect(namesIn(['field of `stats()`', ''], 'field of `stats()`').sort()).toEqual(Object.keys(limiter.stats()).sort())
  expect(page.say(/`Decision` is `\{ ([\w, ]+) \}`/)[0]!.split(', ')).toEqual(Object.keys(limiter.peek('k')))
})

it('every error code named is in the code, and none is left out', () => {
  const codes = [...readFileSync(join(root, 'src/errors.ts'), 'utf8').matchAll(/^ {2}\| '(ERR_\w+)'/gm)].map(([, code]) => code)
  expect(namesIn(['code', 'class', 'when'], 'code').sort()).toEqual(codes.sort())
})

it('every export of the package is named, and every subpath named is one', () => {
  for (const name of Object.keys(hotbucket)) expect(text).toContain(name)
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown> }
  const subpaths = Object.keys(exports).filter((path) => path !== '.' && path !== './package.json').map((path) => path.replace('.', 'hotbucket'))
  expect([...new Set([...text.matchAll(/`(hotbucket\/[\w-]+)`/g)].map(([, name]) => name))].sort()).toEqual(subpaths.sort())
})

it('every guarantee names tests that exist and cite it', () => {
  const rows = page.table(['', 'guarantee', 'tests'])
  expect(rows.map((row) => row[''])).toEqual(Array.from({ length: 13 }, (_, at) => `G${at + 1}`))
  for (const { '': name, tests } of rows) {
    const files = tests!.split(', ')
    for (const file of files) expect([file, existsSync(join(root, file))]).toEqual([file, true])
    // A suite may cite it in the models or the oracles that it runs.
    const cited = files.some((file) => new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, file), 'utf8')))
    expect([name, cited]).toEqual([name, true])
  }
})

it('the scripts and files named exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  for (const [, name] of text.matchAll(/npm (?:run )?(start|test|bench|build)\b/g)) expect(Object.keys(scripts)).toContain(name)
  for (const [, file] of text.matchAll(/(?:node |\]\()([\w/.-]+\.(?:mjs|md))/g)) expect([file, existsSync(join(root, file!))]).toEqual([file, true])
  expect(readdirSync(root)).toContain('package-lock.json')
})

it('the memory formula is the size of a live arena', () => {
  const [fixed, slot, unit, lock] = page.say(/bytes = (\d+) \+ slots × \((\d+) \+ (\d+) × [^(]*\(mutex \? (\d+) : 0\)\)/).map(Number) as [number, number, number, number]
  const more = page.number(/places = (\d+) \+ the greatest limit/)
  const [few, ways, keys] = page.say(/slots = maxKeys up to (\d+), else (\d+) × ceil\(maxKeys \/ (\d+)\)/).map(Number) as [number, number, number]
  for (const maxKeys of [1, 8, 9, 1_000, 100_000]) {
    for (const sync of ['cas', 'mutex'] as const) {
      const slots = maxKeys <= few ? maxKeys : ways * Math.ceil(maxKeys / keys)
      const { bytes, capacity } = new RateLimiter({ policy: slidingWindowLog({ limit: 2, windowMs: 1 }), maxKeys, sync }).stats()
      expect({ bytes, capacity }).toEqual({ bytes: fixed + slots * (slot + (2 + more) * unit + (sync === 'mutex' ? lock : 0)), capacity: slots })
    }
  }
  expect(page.number(/100,000 keys are ([\d,]+) bytes/)).toBe(new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 1 }), maxKeys: 100_000 }).stats().bytes)
})

it('each algorithm fails by as much as the table says', () => {
  const MINUTE = 60_000
  const policies: Record<string, Policy> = {
    tokenBucket: tokenBucket({ limit: 10, periodMs: MINUTE }),
    fixedWindow: fixedWindow({ limit: 10, windowMs: MINUTE }),
    anchored: fixedWindow({ limit: 10, windowMs: MINUTE, anchored: 'first' }),
    slidingWindowCounter: slidingWindowCounter({ limit: 10, windowMs: MINUTE }),
    slidingWindowLog: slidingWindowLog({ limit: 10, windowMs: MINUTE }),
  }
  /** The most in any minute that ends with an admitted call, of one who asks `first` times at 0 and without end from `from` on. */
  const most = (policy: Policy, first: number, from: number): number => {
    const clock = new SharedClock(0)
    const limiter = new RateLimiter({ policy, clock })
    const times: number[] = []
    const ask = (calls: number) => {
      for (let call = 0; call < calls; call++) if (limiter.allow('k')) times.push(clock.nowMs())
    }
    ask(first)
    for (clock.set(from); clock.nowMs() < 4 * MINUTE; clock.advance(clock.nowMs() % 500 === 0 ? 500 : 1)) ask(20)
    return Math.max(...times.map((end) => times.filter((time) => time > end - MINUTE && time <= end).length))
  }
  const rows = page.table(['policy', 'state', 'fails how', 'most admitted in any minute at 10 a minute'])
  const said = rows.map((row) => row['most admitted in any minute at 10 a minute']!)
  const seen = Object.values(policies).map((policy) => Math.max(most(policy, 0, 0), most(policy, 0, MINUTE - 1), most(policy, 1, MINUTE - 1)))
  expect(said).toEqual([...seen.map(String), ''])
  for (const { policy } of rows) expect(policyFrom(policy!.replace('burst?', 'burst').replace('...policies', 'hotbucket.tokenBucket({ limit, periodMs })').replace(/\{ limit/g, '{ limit: 5').replace(/\bperiodMs\b/g, 'periodMs: 1000').replace(/\bwindowMs\b/g, 'windowMs: 1000').replace(/\bburst\b/g, 'burst: 3'))).toBeTruthy()
})
