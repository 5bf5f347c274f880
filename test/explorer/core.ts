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

/** A fault: in a compiled file, each text, which must occur exactly once, is replaced. */
export interface Twin {
  readonly name: string
  readonly file: string
  readonly replace: readonly (readonly [from: string, to: string])[]
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

export async function loadTwin({ name, file, replace }: Twin): Promise<Core> {
  const directory = mkdtempSync(join(tmpdir(), 'hotbucket-twin-'))
  try {
    cpSync(DIST, directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
    const path = join(directory, 'memory', file)
    let text = readFileSync(path, 'utf8')
    for (const [from, to] of replace) {
      // Spaces and line ends are the compiler's affair.
      const pattern = new RegExp(from.trim().split(/\s+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g')
      const found = text.match(pattern)?.length ?? 0
      if (found !== 1) throw new Error(`twin "${name}": its text occurs ${found} times in ${file}: ${from}`)
      text = text.replace(pattern, () => to)
    }
    writeFileSync(path, text)
    return await load(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
