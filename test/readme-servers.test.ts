/** The README's quick starts for servers and pools, as they stand, over real sockets. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(join(root, 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'hotbucket-servers-'))
const starts = [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!)

/** Asks a server often enough to be refused, and prints what it answered. */
const DRIVER = `
const { server } = await import(process.argv[2])
if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
const statuses = []
for (let i = 0; i < 7; i++) statuses.push((await fetch('http://127.0.0.1:' + server.address().port)).status)
console.log(statuses.join())
process.exit()
`

beforeAll(() => {
  for (const scope of ['@hono', '@fastify']) mkdirSync(join(folder, 'node_modules', scope), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/hotbucket'), 'junction')
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server', 'piscina', 'express-rate-limit', '@fastify/rate-limit', 'prom-client']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
  }
  writeFileSync(join(folder, 'driver.mjs'), DRIVER)
  for (const code of starts) {
    const files = code.split(/^\/\/ (\S+\.mjs)\n/m).slice(1)
    for (let at = 0; at < files.length; at += 2) if (files[at] !== 'server.mjs') writeFileSync(join(folder, files[at]!), files[at + 1]!)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...args: string[]) => execFileSync(process.execPath, args, { encoding: 'utf8', cwd: folder }).trim()

it.each(['express.mjs', 'fastify.mjs', 'hono.mjs'])('%s admits five requests and refuses the next', (file) => {
  expect(run('driver.mjs', join(folder, file))).toBe('200,200,200,200,200,429,429')
})

it('limited.mjs keeps 15 of 20 tasks out of the queue, as its comment says', () => {
  const promised = /console\.log\(refused\.length\) \/\/ (\d+)/.exec(text)![1]
  expect(run('limited.mjs')).toBe(promised)
})

/** The quick start `file` with the piece that imports `subpath` in the place of its `line`, and that line's import gone. */
function withPiece(file: string, subpath: string, line: string, kept = ''): string {
  const start = starts.find((code) => code.startsWith(`// ${file}\n`))!
  const piece = starts.find((code) => !code.startsWith('//') && code.includes(`'${subpath}'`))!
  expect(start).toContain(line)
  const own = /^import (?:hotbucket|\{ rateLimit \}) from .*\n/m
  const code = (kept === '' ? start.replace(own, '') : start).replace(line, `${piece}${kept}`)
  const path = join(folder, `${subpath.replace('/', '-')}.mjs`)
  writeFileSync(path, code)
  return path
}

it.each([
  ['express.mjs', 'hotbucket/express-rate-limit', 'app.use(rateLimit(limiter))'],
  ['fastify.mjs', 'hotbucket/fastify-rate-limit', 'app.register(hotbucket, { limiter })'],
])('%s with the store of %s admits five requests and refuses the next', (file, subpath, line) => {
  expect(run('driver.mjs', withPiece(file, subpath, line))).toBe('200,200,200,200,200,429,429')
})

it('the metrics piece shows what the limiter counts, and whom it refused most', () => {
  const watched = 'app.use(rateLimit(refused.watch(limiter)))'
  expect(text).toContain(watched.slice('app.use('.length, -1))
  const server = withPiece('express.mjs', 'hotbucket/metrics', 'app.use(rateLimit(limiter))', watched)
  const scrape = DRIVER.replace('console.log(statuses.join())', "console.log(await (await fetch('http://127.0.0.1:' + server.address().port + '/metrics')).text())")
  writeFileSync(join(folder, 'scrape.mjs'), scrape)
  const shown = run('scrape.mjs', server)
  expect(shown).toContain('hotbucket_allowed_total{limiter="default"} 5')
  expect(shown).toContain('hotbucket_denied_total{limiter="default"} 2')
  expect(shown).toContain('hotbucket_refused_keys{limiter="default",key="127.0.0.1"} 2')
})
