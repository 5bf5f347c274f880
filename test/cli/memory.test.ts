/** A log of any length takes the memory of a short one. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** What reading on may add, in MB: tables fill up, and the collector comes when it pleases. Keeping the lines adds more. */
const ROOM = 80

function million(...args: string[]) {
  // A young generation of one size on every machine, so that garbage not yet collected is no growth.
  const { stdout, stderr } = spawnSync(process.execPath, ['--max-semi-space-size=8', fileURLToPath(new URL('million.mjs', import.meta.url)), ...args], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout) as { status: number; requests: number; clients: number; clientsAtLeast: boolean; grownMb: number; baseMb: number; seconds: number }
}

test('a million lines of 300,010 clients: memory is bounded and every client is counted', () => {
  const { status, requests, clients, clientsAtLeast, grownMb, baseMb, seconds } = million()
  console.log(`1,000,000 lines through two policies in ${seconds.toFixed(1)} s: ${Math.round(requests / seconds)} a second, ${baseMb} MB and ${grownMb} MB more`)
  expect({ status, requests, clients, clientsAtLeast }).toEqual({ status: 0, requests: 1_000_000, clients: 300_010, clientsAtLeast: false })
  expect(grownMb).toBeLessThan(ROOM)
})

test('the measure can fail: a twin that keeps what it reads grows by more', () => {
  expect(million('--keep').grownMb).toBeGreaterThan(ROOM)
})
