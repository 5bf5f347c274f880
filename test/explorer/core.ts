/** The compiled modules under test: as they are, or with a fault put in by replacing a piece of their text. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as arena from '../../src/memory/arena.ts'
import type * as buckets from '../../src/memory/buckets.ts'
import type * as word from '../../src/memory/word.ts'

export interface Core {
  readonly Arena: typeof arena.Arena
  readonly Buckets: typeof buckets.Buckets
  readonly word: typeof word
}

/** A piece of a compiled file, which must occur exactly once, and what takes its place. */
export interface Patch {
  readonly file: string
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
  const at = (file: string): string => pathToFileURL(join(directory, 'memory', file)).href
  const [{ Arena }, { Buckets }, wordModule] = (await Promise.all([
    import(/* @vite-ignore */ at('arena.js')),
    import(/* @vite-ignore */ at('buckets.js')),
    import(/* @vite-ignore */ at('word.js')),
  ])) as [typeof arena, typeof buckets, typeof word]
  return { Arena, Buckets, word: wordModule }
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
    for (const { file, from, to } of patches) {
      const path = join(directory, 'memory', file)
      const text = readFileSync(path, 'utf8')
      const found = text.match(patternOf(from))?.length ?? 0
      if (found !== 1) throw new Error(`twin "${name}": its text occurs ${found} times in ${file}: ${from}`)
      writeFileSync(path, text.replace(patternOf(from), () => to))
    }
    return await load(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
