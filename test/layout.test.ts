/** `native-layout.md` against the code, a live arena, and the simulation that it quotes. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Document, misprints } from './document.ts'
import { headerAndRegions, sizes } from './layout/arena.ts'
import { examples } from './layout/examples.ts'
import { clocks } from './layout/clocks.ts'
import { compared } from './layout/findings.ts'
import { algorithms, limits } from './layout/limits.ts'
import { locks, words } from './layout/words.ts'

const checks = [headerAndRegions, sizes, words, locks, algorithms, limits, examples, clocks]

const text = readFileSync(new URL('../native-layout.md', import.meta.url), 'utf8')

interface Share {
  readonly refused: number
  readonly tried: number
}
interface Simulation {
  readonly SEED: number
  rows(): { load: string; filling: Share; exact: Share; any: Share }[]
}

it('offsets, sizes, bits, horizons and worked bytes are those of the code and of a live arena', () => {
  expect(checks.flatMap((check) => compared(text, check).found)).toEqual([])
})

it.each(checks)('a single wrong digit in anything that is read is noticed (%o)', (check) => {
  const missed: string[] = []
  const tried = [...misprints(compared(text, check).page)]
  for (const { at, text: misprinted } of tried) {
    if (compared(misprinted, check).found.length > 0) continue
    missed.push(misprinted.slice(misprinted.lastIndexOf('\n', at) + 1, misprinted.indexOf('\n', at)))
  }
  expect(missed).toEqual([])
  expect(tried.length).toBeGreaterThan(1)
})

it('the overflow table is what the simulation prints', async () => {
  const simulation = (await import(new URL('../bench/overflow.mjs', import.meta.url).href)) as Simulation
  const page = new Document(text)
  const quoted = page.table(['load', 'first filling', 'equal lives', 'random lives'])
  const share = ({ refused, tried }: Share) => `${refused} of ${tried}`
  expect(page.number(/\(seed (\d+), 4096 bins\)/)).toBe(simulation.SEED)
  expect(quoted).toEqual(
    simulation.rows().map(({ load, filling, exact, any }) => ({
      load,
      'first filling': share(filling),
      'equal lives': share(exact),
      'random lives': share(any),
    })),
  )
})
