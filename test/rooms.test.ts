/** Which room may say what: read off the sources, and off fake sources that break each rule. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { breaches } from './rooms.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
const sources = new Map(paths.map((path) => [`src/${path.replaceAll('\\', '/')}`, readFileSync(join(root, 'src', path), 'utf8')]))

/** What is found when `path` has `source` besides all else. */
function foundWith(path: string, source: string, longFiles?: ReadonlyMap<string, number>): string[] {
  const known = new Set(breaches(sources, longFiles))
  return breaches(new Map([...sources, [path, source]]), longFiles).filter((breach) => !known.has(breach))
}

it('every source keeps to its room', () => {
  expect(sources.size).toBeGreaterThan(20)
  expect(breaches(sources)).toEqual([])
})

describe('a source that breaks a rule is caught', () => {
  it.each([
    ['src/limiter-twin.ts', 'export const x = Atomics.load(cells, 0)'],
    ['src/clock/twin.ts', 'const a = new SharedArrayBuffer(8)'],
    ['src/http/twin.ts', 'if (x instanceof SharedArrayBuffer) y()'],
    ['src/arithmetic/twin.ts', 'const { load } = Atomics'],
    ['src/http/twin.ts', 'const s = `${Atomics.load(cells, 0)}`'],
  ])('shared memory outside its room: %s says %s', (path, source) => {
    expect(foundWith(path, source)).toEqual([`${path} touches shared memory`])
  })

  it.each([
    ['src/limiter-twin.ts', 'const t = Date.now()'],
    ['src/memory/twin.ts', 'const t = new Date()'],
    ['src/memory/twin.ts', 'const t = performance.now()'],
    ['src/arithmetic/twin.ts', 'const t = process.hrtime.bigint()'],
  ])('the time asked outside its room: %s says %s', (path, source) => {
    expect(foundWith(path, source)).toEqual([`${path} asks the time`])
  })

  it.each([
    ['src/arithmetic/twin.ts', "import { Arena } from '../memory/arena.ts'", 'src/memory/arena.ts'],
    ['src/arithmetic/twin.ts', "import type { Clock } from '../clock/clock.ts'", 'src/clock/clock.ts'],
    ['src/arithmetic/twin.ts', "import { readFileSync } from 'node:fs'", 'node:fs'],
    ['src/memory/twin.ts', "import { Worker } from 'node:worker_threads'", 'node:worker_threads'],
    ['src/clock/twin.ts', "const { Worker } = await import('worker_threads')", 'worker_threads'],
    ['src/twin.ts', "export { CoarseClock } from './clock/coarse-clock.ts'", 'src/clock/coarse-clock.ts'],
    ['src/http/twin.ts', "export { Arena } from '../memory/arena.ts'", 'src/memory/arena.ts'],
    ['src/http/twin.ts', "const late = await import('../memory/arena.ts')", 'src/memory/arena.ts'],
  ])('an import against the grain: %s says %s', (path, source, other) => {
    expect(foundWith(path, source)).toContain(`${path} imports ${other}`)
  })

  it('a cycle of imports, of types too', () => {
    const two = new Map([
      ['src/a.ts', "import type { B } from './b.ts'"],
      ['src/b.ts', "import { c } from './c.ts'"],
      ['src/c.ts', "export * from './a.ts'"],
    ])
    expect(breaches(two)).toEqual(['a cycle of imports: src/a.ts > src/b.ts > src/c.ts > src/a.ts'])
  })

  it('a file of 201 lines, a listed one that grew, and a listed one that need not be', () => {
    const long = (lines: number) => '//\n'.repeat(lines)
    expect(foundWith('src/twin.ts', long(200))).toEqual([])
    expect(foundWith('src/twin.ts', long(201))).toEqual(['src/twin.ts has 201 lines, more than 200'])
    const list = new Map([['src/twin.ts', 300]])
    expect(foundWith('src/twin.ts', long(300), list)).toEqual([])
    expect(foundWith('src/twin.ts', long(301), list)).toEqual(['src/twin.ts has 301 lines, more than 300'])
    expect(foundWith('src/twin.ts', long(200), list)).toEqual(['src/twin.ts has 200 lines and leaves the list of long files'])
  })

  it('words in comments and strings, types, and dates made of numbers are no breach', () => {
    const source = [
      '/** Atomics.load and Date.now(): */ // new SharedArrayBuffer(8)',
      "const text = 'Atomics' + `performance.now() ${1}`",
      'export interface Handle { readonly buffer: SharedArrayBuffer }',
      'const day = new Date(Date.UTC(2024, 0, 1))',
    ].join('\n')
    expect(foundWith('src/twin.ts', source)).toEqual([])
  })
})
