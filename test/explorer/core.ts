/** The compiled modules under test: as they are, or with a fault put in by replacing a piece of their text. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as arena from '../../src/memory/arena.ts'
import type * as ticks from '../../src/clock/ticks.ts'
import type * as buckets from '../../src/memory/buckets.ts'
import type * as policyTable from '../../src/memory/policy-table.ts'
import type * as tickCell from '../../src/memory/tick-cell.ts'
import type * as word from '../../src/memory/word.ts'
import type * as limiter from '../../src/limiter.ts'
import type * as compile from '../../src/arithmetic/compile.ts'

export interface Core {
  readonly Arena: typeof arena.Arena
  readonly Buckets: typeof buckets.Buckets
  readonly PolicyTable: typeof policyTable.PolicyTable
  readonly word: typeof word
  readonly TickCell: typeof tickCell.TickCell
  readonly Ticks: typeof ticks.Ticks
  readonly termsOf: typeof compile.termsOf
  readonly RateLimiter: typeof limiter.RateLimiter
}

/** A piece of the compiled rooms of memory, clock and arithmetic, which must occur exactly once in all their files, and what takes its place. */
export interface Patch {
  readonly from: string
  readonly to: string
}

/** The modules with a fault put in. */
export interface Twin {
  readonly name: string
  readonly patches: readonly Patch[]
}

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))

async function load(directory: string): Promise<Core> {
  const of = async (path: string): Promise<unknown> => import(/* @vite-ignore */ pathToFileURL(join(directory, path)).href)
  const { Arena } = (await of('memory/arena.js')) as typeof arena
  const { Buckets } = (await of('memory/buckets.js')) as typeof buckets
  const { PolicyTable } = (await of('memory/policy-table.js')) as typeof policyTable
  const { TickCell } = (await of('memory/tick-cell.js')) as typeof tickCell
  const { Ticks } = (await of('clock/ticks.js')) as typeof ticks
  const { termsOf } = (await of('arithmetic/compile.js')) as typeof compile
  const { RateLimiter } = (await of('limiter.js')) as typeof limiter
  return { Arena, Buckets, PolicyTable, RateLimiter, TickCell, Ticks, termsOf, word: (await of('memory/word.js')) as typeof word }
}

export const loadCore = (): Promise<Core> => load(DIST)

/** `from` as a pattern in which spaces and line ends are the compiler's affair. */
function patternOf(from: string): RegExp {
  const parts = from.trim().split(/\s+/)
  return new RegExp(parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g')
}

export async function loadTwin({ name, patches }: Twin): Promise<Core> {
  const directory = mkdtempSync(join(tmpdir(), 'hotbucket-twin-'))
  try {
    for (const path of ['memory', 'arithmetic', 'clock', 'errors.js', 'agreement.js', 'answers.js', 'options.js', 'limiter.js']) cpSync(join(DIST, path), join(directory, path), { recursive: true, filter: (file) => !file.endsWith('.d.ts') })
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
    const rooms = ['memory', 'arithmetic', 'clock'].map((room) => join(directory, room))
    const paths = rooms.flatMap((room) => readdirSync(room).filter((file) => file.endsWith('.js')).map((file) => join(room, file)))
    for (const { from, to } of patches) {
      const found = paths.flatMap((path) => (readFileSync(path, 'utf8').match(patternOf(from)) ?? []).map(() => path))
      if (found.length !== 1) throw new Error(`twin "${name}": its text occurs ${found.length} times: ${from}`)
      writeFileSync(found[0]!, readFileSync(found[0]!, 'utf8').replace(patternOf(from), () => to))
    }
    return await load(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
