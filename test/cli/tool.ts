/** The tool as a user runs it, and as a function with surroundings of the test's own. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from '../../dist/cli/command.js'
import type { Findings } from '../../dist/cli/findings.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const sample = join(root, 'src/demo/sample.log')
export const accessLog = join(process.env.HOTBUCKET_SHARED ?? join(root, '../shared'), 'data/access.log')

let made: string | undefined

function folder(): string {
  return (made ??= mkdtempSync(join(tmpdir(), 'hotbucket-cli-')))
}

/** Removes what `file` wrote; for the end of a test file. */
export function tidy(): void {
  if (made !== undefined) rmSync(made, { recursive: true })
  made = undefined
}

export function file(name: string, content: string | Uint8Array): string {
  const path = join(folder(), name)
  writeFileSync(path, content)
  return path
}

/** Runs the program in a process of its own. */
export function tool(args: readonly string[], input: string | Uint8Array = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...args], { cwd: folder(), encoding: 'utf8', input })
  return { status, stdout, stderr }
}

async function* piece(bytes: string | Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(bytes)
}

/** Runs it in this process. */
export async function replay(args: readonly string[], { stdin = '', rows, drawn }: { stdin?: string | Uint8Array; rows?: number; drawn?: (text: string) => void } = {}) {
  let [out, err] = ['', '']
  const terminal = { isTTY: drawn !== undefined, write: drawn } as unknown as NodeJS.WriteStream
  const surroundings = { out: (text: string) => (out += text), err: (text: string) => (err += text), terminal, stdin: piece(stdin), ...(rows === undefined ? {} : { rows }) }
  const status = await command(['replay', ...args], surroundings)
  return { status, out, err }
}

/** What `--json` prints, in this process. */
export async function findings(args: readonly string[], options: { stdin?: string | Uint8Array; rows?: number } = {}): Promise<Findings> {
  return JSON.parse((await replay(['--json', ...args], options)).out) as Findings
}

/** Lines of one client, all in one second of a morning in March. */
export function lines(client: string, count: number, second = 0, path = '/', user = '-'): string {
  const [minute, rest] = [Math.floor(second / 60), second % 60].map((number) => String(number).padStart(2, '0'))
  return `${client} - ${user} [12/Mar/2024:09:${minute}:${rest} +0000] "GET ${path} HTTP/1.1" 200 1\n`.repeat(count)
}
