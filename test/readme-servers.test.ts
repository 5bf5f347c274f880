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
  mkdirSync(join(folder, 'node_modules/@hono'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/hotbucket'), 'junction')
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server', 'piscina']) {
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
