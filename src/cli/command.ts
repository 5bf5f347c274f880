/** The tool as a function: arguments in, text and exit code out. */
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { systemClock } from '../clock/clock.ts'
import { linesOf } from '../log/lines.ts'
import { Progress } from '../log/progress.ts'
import type { Source } from '../log/source.ts'
import { openSource } from '../log/source.ts'
import { UsageError } from '../log/usage.ts'
import { findingsOf } from './findings.ts'
import { parseFlags, USAGE } from './flags.ts'
import { picture } from './picture.ts'
import { Replay } from './replay.ts'
import type { Reader } from './reader.ts'
import { report } from './report.ts'

/** As a shell has it: 128 and the number of SIGINT. */
const INTERRUPTED = 130

export interface Surroundings {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly terminal: NodeJS.WriteStream
  readonly stdin: AsyncIterable<Buffer>
  /** Ends the reading, and `stdin` with it: what was read until then is reported. */
  readonly stop?: AbortSignal
  /** Clients that are told apart one by one; tests set it low. */
  readonly rows?: number
}

async function version(): Promise<string> {
  // Reachable from `src/cli` and from `dist/cli` alike.
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return `${manifest.version}\n`
}

/** Opens all of `files` before any is read, so that a name misspelt costs no time. Throws UsageError. */
async function openAll(files: readonly string[], stdin: AsyncIterable<Buffer>, stop: AbortSignal | undefined): Promise<Source[]> {
  const sources: Source[] = []
  try {
    for (const file of files) sources.push(await openSource(file, stdin, stop))
    return sources
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

/** The time of a source's first request; Infinity where its beginning has none. */
async function beginsAt(source: Source, { read }: Reader): Promise<number> {
  const head = await source.head()
  for await (const line of linesOf([head])) {
    const parsed = read(line)
    if (!('reason' in parsed)) return parsed.timeMs
  }
  return Infinity
}

/** Oldest first, since `access.log*` names the newest first. A pipe stays where it is, and then so do all. */
async function inOrder(sources: readonly Source[], reader: Reader): Promise<Source[]> {
  if (sources.length === 1 || sources.some(({ size }) => Number.isNaN(size))) return [...sources]
  const begun: { source: Source; ms: number }[] = []
  for (const source of sources) begun.push({ source, ms: await beginsAt(source, reader) })
  return begun.sort((a, b) => (a.ms === b.ms ? 0 : a.ms - b.ms)).map(({ source }) => source)
}

async function run(args: readonly string[], { out, err, terminal, stdin, stop, rows }: Surroundings): Promise<number> {
  const flags = parseFlags(args)
  if (flags.show !== undefined) {
    out(flags.show === 'help' ? USAGE : await version())
    return 0
  }
  const startedMs = systemClock.nowMs()
  const opened = await openAll(flags.files, stdin, stop)
  const replay = new Replay(flags.policies, rows)
  const bar = new Progress(terminal)
  let sources = opened
  try {
    sources = await inOrder(opened, flags.reader)
    const size = sources.reduce((sum, source) => sum + source.size, 0)
    const progress = (): void => bar.draw(replay.lines, sources.reduce((sum, source) => sum + source.bytesRead, 0) / size)
    for (const source of sources) await replay.run(source, flags.reader, progress)
  } finally {
    bar.clear()
    await Promise.all(opened.map((source) => source.close()))
  }
  const findings = findingsOf(replay, sources.map(({ name }) => basename(name)), flags.reader.by, flags.top)
  if (flags.svg !== undefined) await draw(flags.svg, picture(findings, replay.timeline))
  out(flags.json ? `${JSON.stringify(findings, undefined, 2)}\n` : report(findings, replay, systemClock.nowMs() - startedMs))
  // Machines read stdout; a person is told as well.
  if (flags.json) for (const { file, reason } of findings.faults) err(`Reading ${file} ended early: ${reason}\n`)
  if (stop?.aborted === true && findings.faults.length > 0) return INTERRUPTED
  return findings.faults.length > 0 || findings.requests === 0 ? 1 : 0
}

async function draw(file: string, svg: string): Promise<void> {
  await writeFile(file, svg).catch((error: unknown) => {
    throw new UsageError(`cannot write ${file}: ${(error as Error).message}`)
  })
}

/** Runs the tool; returns the exit code. */
export async function command(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await run(args, surroundings)
  } catch (error) {
    if (error instanceof UsageError) {
      surroundings.err(`${error.message}\nTry --help.\n`)
      return 2
    }
    surroundings.err(`The replay failed: ${String(error)}\n`)
    return 1
  }
}
