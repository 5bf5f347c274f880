/** The rooms that users' frameworks meet: what they import, and that each subpath loads by itself. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const rooms = ['http', 'stores', 'piscina', 'metrics']

/** Imports of a source as [what, from where, whether for its types alone]. */
function importsOf(path: string): { from: string; typesOnly: boolean }[] {
  const source = readFileSync(new URL(path, root), 'utf8')
  return [...source.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)'/gm)].map(([, type, from]) => ({ from: from!, typesOnly: type !== undefined }))
}

const files = rooms.flatMap((room) => readdirSync(new URL(`src/${room}`, root)).map((file) => `src/${room}/${file}`))

test.each(files)('%s sees the facade\'s types, the errors and its own room, and loads nothing else', (file) => {
  for (const { from, typesOnly } of importsOf(file)) {
    const own = from.startsWith('./')
    const facade = typesOnly && (from === '../index.ts' || /^(fastify|hono|express-rate-limit)$/.test(from))
    const library = from.startsWith('node:') || from === '../errors.ts' || (file === 'src/metrics/index.ts' && from === 'prom-client')
    expect([from, own || facade || library]).toEqual([from, true])
  }
})

test('the reading of imports finds them', () => {
  expect(importsOf('src/http/gate.ts')).toContainEqual({ from: '../errors.ts', typesOnly: false })
  expect(importsOf('src/metrics/index.ts')).toContainEqual({ from: 'prom-client', typesOnly: false })
  expect(files.flatMap(importsOf).length).toBeGreaterThan(40)
})

test('every subpath of the package loads and has its contract\'s names', async () => {
  const names: Record<string, readonly string[]> = {
    'hotbucket/http': ['clientAddress', 'joinKey', 'rateLimit'],
    'hotbucket/fastify': ['default'],
    'hotbucket/hono': ['rateLimit'],
    'hotbucket/express-rate-limit': ['HotbucketStore'],
    'hotbucket/fastify-rate-limit': ['HotbucketStore'],
    'hotbucket/piscina': ['limited'],
    'hotbucket/metrics': ['RefusedKeys', 'metrics'],
  }
  for (const [subpath, exported] of Object.entries(names)) {
    const module = (await import(subpath)) as object
    expect([subpath, Object.keys(module).sort()]).toEqual([subpath, exported])
  }
})

test('frameworks are optional peers, and none is a dependency', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Record<string, Record<string, unknown>>
  expect(manifest.dependencies).toBeUndefined()
  for (const peer of Object.keys(manifest.peerDependencies!)) expect(manifest.peerDependenciesMeta![peer]).toEqual({ optional: true })
})
