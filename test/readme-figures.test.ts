/** The README's figures are those of the run that bench/results.json holds. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const path = (from: string): string => fileURLToPath(new URL(`../${from}`, import.meta.url))
const results = JSON.parse(readFileSync(path('bench/results.json'), 'utf8')) as { machine: { mode: string; noisy?: boolean } }
const { tables } = (await import(path('bench/readme.mjs'))) as { tables(of: object): string[] }
const page = readFileSync(path('README.md'), 'utf8')

// A quick or a noisy run is not quoted.
it.skipIf(results.machine.mode !== 'full' || results.machine.noisy === true)('the tables of the README are the medians of the last run, and another figure would be noticed', () => {
  const expected = tables(results)
  expect(expected).toHaveLength(2)
  for (const table of expected) expect(page.includes(table)).toBe(true)
  const [alone] = expected
  expect(page.includes(alone!.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)))).toBe(false)
})
