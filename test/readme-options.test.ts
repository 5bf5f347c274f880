/** The README's tables of options and flags against the code. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseFlags as replayFlags, USAGE as REPLAY } from '../src/cli/flags.ts'
import { parseFlags as startFlags, USAGE as START } from '../src/demo/flags.ts'
import { addressRules } from '../src/http/address.ts'
import { Gate } from '../src/http/gate.ts'
import { checkOptions } from '../src/http/options.ts'
import { fixedWindow, RateLimiter, SharedClock } from '../src/index.ts'
import { metrics } from '../src/metrics/index.ts'
import { limited } from '../src/piscina/limited.ts'
import { HotbucketStore } from '../src/stores/express-rate-limit.ts'
import { Document } from './document.ts'

const source = (path: string): string => readFileSync(fileURLToPath(new URL(`../src/${path}`, import.meta.url)), 'utf8')
const page = new Document(readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8'))
const made = () => new RateLimiter({ policy: fixedWindow({ limit: 5, windowMs: 60_000 }), clock: new SharedClock() })

/** The fields that the interface `name` declares itself. */
function declared(path: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(source(path))![1]!
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => field!)
}

/** A default as it is written: a number, a Boolean or a quoted string; undefined where there is none, or words. */
const valueOf = (text: string): unknown => (/^('.*'|\d+|true|false)$/.test(text) ? JSON.parse(text.replaceAll("'", '"')) : undefined)

describe('the options of the adapters', () => {
  const rows = page.table(['adapter option', 'type', 'default', ''])
  const by = (option: string) => rows.find((row) => row['adapter option'] === option)!

  it('are those of the code, each once', () => {
    const inCode = [
      ...declared('http/options.ts', 'GateOptions'), ...declared('http/address.ts', 'AddressOptions'), ...declared('http/node.ts', 'NodeOptions'),
      ...declared('http/fastify.ts', 'FastifyOptions'), ...declared('http/hono.ts', 'HonoOptions'),
    ]
    expect(rows.map((row) => row['adapter option']).sort()).toEqual([...new Set(inCode)].sort())
  })

  it('have the defaults and the ranges that the table says', () => {
    const { proxies, forwardedBy, ipv6Prefix } = addressRules()
    expect({ proxies, forwardedBy, ipv6Prefix }).toEqual(Object.fromEntries(['proxies', 'forwardedBy', 'ipv6Prefix'].map((option) => [option, valueOf(by(option).default!)])))
    for (const option of ['proxies', 'ipv6Prefix']) {
      const [, least, most] = /(\d+) to (\d+)/.exec(by(option)['']!)!.map(Number) as [number, number, number]
      for (const good of [least, most]) expect(() => addressRules({ [option]: good })).not.toThrow()
      for (const bad of [least - 1, most + 1]) expect(() => addressRules({ [option]: bad })).toThrow(option)
    }
    // A gate without options and one with the defaults say the same, of a request that is refused and of one that cannot be checked.
    const defaults = Object.fromEntries(['cost', 'onError', 'legacyHeaders'].map((option) => [option, valueOf(by(option).default!)]))
    expect(Object.values(defaults)).not.toContain(undefined)
    for (const key of ['one', undefined]) {
      const [bare, spelt] = [{}, defaults].map((options) => new Gate(made(), { log: () => {}, ...options }, () => key))
      for (let asked = 0; asked < 6; asked++) expect(bare!.ask(null)).toEqual(spelt!.ask(null))
    }
    expect(source('http/fastify.ts')).toContain(`options.hook ?? ${by('hook').default}`)
  })

  it('take the kinds and choices of the table, and nothing else', () => {
    for (const { 'adapter option': option, type } of rows.filter(({ 'adapter option': each }) => !['handler', 'proxies', 'forwardedBy', 'ipv6Prefix', 'limiter', 'hook'].includes(each!))) {
      const kinds = type!.replaceAll('\\|', '|').split(' | ')
      const examples = kinds.map((kind) => valueOf(kind) ?? (kind.startsWith('(') ? () => {} : { number: 1, string: 'default', boolean: true }[kind]))
      for (const example of examples) expect(() => checkOptions(made(), { [option!]: example })).not.toThrow()
      expect(() => checkOptions(made(), { [option!]: Symbol('none of them') })).toThrow(option)
    }
    const choices = by('forwardedBy').type!.replaceAll('\\|', '|').split(' | ').map(valueOf)
    for (const choice of choices) expect(addressRules({ forwardedBy: choice as 'forwarded' }).forwardedBy).toBe(choice)
    const hooks = /readonly hook\?: (.*)$/m.exec(source('http/fastify.ts'))![1]
    expect(by('hook').type!.replaceAll('\\|', '|')).toBe(hooks)
  })
})

it('the options of the pool, the stores and the metrics are those of the code, with the defaults that the table says', async () => {
  const rows = page.table(['of', 'option', 'type', 'default', ''])
  const optionsOf = (whose: string) => rows.filter(({ of }) => of!.startsWith(whose)).flatMap(({ option }) => option!.split(', '))
  const byDefault = (whose: string, option: string) => valueOf(rows.find((row) => row.of!.startsWith(whose) && row.option === option)!.default!)
  expect(optionsOf('limited')).toEqual(declared('piscina/limited.ts', 'LimitedOptions'))
  expect(optionsOf('run')).toEqual(declared('piscina/limited.ts', 'Charge'))
  expect(optionsOf('new HotbucketStore')).toEqual(declared('stores/express-rate-limit.ts', 'HotbucketStoreOptions'))
  expect(optionsOf('HotbucketStore.of')).toEqual([...source('stores/fastify-rate-limit.ts').matchAll(/options: \{ readonly (\w+)\?/g)].map(([, name]) => name))
  expect(optionsOf('metrics')).toEqual(declared('metrics/index.ts', 'MetricsOptions'))
  const limiter = made()
  await limited({ run: async () => 'done' }, limiter).run(undefined as never)
  expect(limiter.peek(byDefault('limited', 'key') as string).remaining).toBe(5 - (byDefault('limited', 'cost') as number))
  expect(new HotbucketStore({ limiter }).prefix).toBe(byDefault('new HotbucketStore', 'prefix'))
  expect(await metrics(limiter).text()).toContain(`hotbucket_capacity{limiter="${byDefault('metrics', 'name') as string}"}`)
  expect(source('metrics/index.ts')).toContain(`top = ${byDefault('metrics', 'top') as number} }`)
})

describe('the flags', () => {
  const defaultsIn = (whose: string) => new Map(page.table([`flag of \`${whose}\``, 'default', '']).flatMap((row) => row[`flag of \`${whose}\``]!.split(', ').map((flag) => [flag, row.default] as const)))
  const flagsIn = (usage: string) => [...usage.matchAll(/^ {2}(--\w+)/gm)].map(([, flag]) => flag!)

  it.each([['replay', REPLAY], ['npm start', START]])('of %s are those of its --help', (whose, usage) => {
    expect([...defaultsIn(whose).keys()]).toEqual(flagsIn(usage))
  })

  it('have the defaults that the tables say', () => {
    const replay = defaultsIn('replay')
    const bare = replayFlags(['replay', 'x.log'])
    expect(bare).toMatchObject({ top: Number(replay.get('--top')), json: false, svg: undefined, reader: { by: replay.get('--key') } })
    const rates = [...replay.get('--policy')!.matchAll(/\d+/g)].map(Number)
    expect('policies' in bare && bare.policies.map(({ policy, periodMs }) => [policy.limit, periodMs])).toEqual(rates.map((rate) => [rate, 60_000]))
    const most = page.number(/a limit to try; up to (\d+)/)
    const tries = (times: number) => replayFlags(['replay', ...Array.from({ length: times }, () => ['--policy', 'fixed-window limit=1 window=1m']).flat(), 'x.log'])
    expect(() => tries(most)).not.toThrow()
    expect(() => tries(most + 1)).toThrow()
    const start = defaultsIn('npm start')
    expect(startFlags([])).toMatchObject({ limit: Number(start.get('--limit')), per: start.get('--per'), serve: false, port: Number(start.get('--port')) })
  })
})
