/** Ctrl+C in the middle of a run: a report on what was read until then. */
import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { file, lines, root, tidy } from './tool.ts'

afterAll(tidy)

/** More than a pipe and the streams at its ends hold: once it is written, most of it has been read. */
const MANY = 100_000
const POLICY = ['--policy', 'fixed-window limit=2 window=1m'] as const

function start(...args: string[]) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'replay', ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { child, ended: ended.then(([[status], out, err]) => ({ status: status as number, out, err })) }
}

/** Writes to standard input, which stays open, and sends SIGINT once it is read so far that the pipe has room for all. */
async function interrupted(bytes: string | Uint8Array, ...args: string[]) {
  const { child, ended } = start(...args)
  await new Promise((resolve) => child.stdin.write(bytes, resolve))
  child.kill('SIGINT')
  return ended
}

test('a report on what was read so far, which says that it is partial; exit 130', async () => {
  const { status, out, err } = await interrupted(lines('a', MANY), ...POLICY, '-')
  expect({ status, err }).toEqual({ status: 130, err: '' })
  expect(out).toContain('Reading standard input ended early: interrupted. All lines before that count.\n  This report is partial.')
  const read = Number(/standard input: ([\d,]+) lines/.exec(out)![1]!.replaceAll(',', ''))
  expect(read).toBeGreaterThan(MANY / 2)
  expect(read).toBeLessThanOrEqual(MANY)
  expect(Number(/fixed-window limit=2 window=1m +([\d,]+)/.exec(out)![1]!.replaceAll(',', ''))).toBe(read - 2)
})

test('as JSON, in the middle of gzip, with a file that was not reached: each names its fault, and no line of the file counts', async () => {
  const next = file('next.log', lines('next', 5))
  // One member for each piece, so that the pipe is not ahead of what can be inflated.
  const zipped = Buffer.concat(Array.from({ length: 8_000 }, () => gzipSync(lines('a', 10))))
  const { status, out, err } = await interrupted(zipped, ...POLICY, '--json', '-', next)
  const { faults, lines: read, clients } = JSON.parse(out) as { faults: unknown; lines: number; clients: number }
  expect(faults).toEqual([{ file: 'standard input', reason: 'interrupted' }, { file: next, reason: 'interrupted' }])
  expect(read).toBeGreaterThan(10_000)
  expect({ status, clients }).toEqual({ status: 130, clients: 1 })
  expect(err).toBe(`Reading standard input ended early: interrupted\nReading ${next} ended early: interrupted\n`)
})

test('before any request, on a standard input gone silent: nothing to replay, exit 130', async () => {
  const { child, ended } = start('-')
  // It reads once the pipe has room again.
  await new Promise((resolve) => child.stdin.write('\n'.repeat(1_000_000), resolve))
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ status: 130, out: expect.stringContaining('Nothing to replay') as string })
})

test('a run that is not interrupted ends by itself, exit 0', async () => {
  const { child, ended } = start(...POLICY, '-')
  child.stdin.end(lines('a', 3))
  expect(await ended).toMatchObject({ status: 0, out: expect.not.stringContaining('partial') as string })
})
