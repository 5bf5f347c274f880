/** The compiled modules under test: as they are, or with a fault put in by replacing a piece of their text. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as arena from '../../src/memory/arena.ts'
import type * as ticks from '../../src/clock/ticks.ts'
import type * as buckets from '../../src/memory/buckets.ts'
import type * as tickCell from '../../src/memory/tick-cell.ts'
import type * as word from '../../src/memory/word.ts'

export interface Core {
  readonly Arena: typeof arena.Arena
  readonly Buckets: typeof buckets.Buckets
  readonly word: typeof word
  readonly TickCell: typeof tickCell.TickCell
  readonly Ticks: typeof ticks.Ticks
}

/** A piece of the compiled memory and clock rooms, which must occur exactly once in all their files, and what takes its place. */
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
  const at = (file: string): string => pathToFileURL(join(directory, file)).href
  const [{ Arena }, { Buckets }, wordModule, { TickCell }, { Ticks }] = (await Promise.all([
    import(/* @vite-ignore */ at('memory/arena.js')),
    import(/* @vite-ignore */ at('memory/buckets.js')),
    import(/* @vite-ignore */ at('memory/word.js')),
    import(/* @vite-ignore */ at('memory/tick-cell.js')),
    import(/* @vite-ignore */ at('clock/ticks.js')),
  ])) as [typeof arena, typeof buckets, typeof word, typeof tickCell, typeof ticks]
  return { Arena, Buckets, word: wordModule, TickCell, Ticks }
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
    cpSync(DIST, directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
    const rooms = [join(directory, 'memory'), join(directory, 'clock')]
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
