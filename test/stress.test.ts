/** A few seconds of the stress run, and of its twins, which must fail it (G1, G2, G3, G5, G7, G8, G9). */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { engines } from './engines.ts'
import { seed } from './oracle/timeline.ts'

const script = fileURLToPath(new URL('stress/main.mjs', import.meta.url))

/** Resolves when the process has ended by itself, to its exit code and its last line but for the totals. */
function stress(seconds: number, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const env = { ...process.env, HOTBUCKET_STRESS_SECONDS: String(seconds), HOTBUCKET_SEED: String(seed) }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], { env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, lines: `${stderr}${stdout}`.trim().split('\n') })
    })
  })
}

describe('everything at once on 4 threads', () => {
  it.each(engines)('violates nothing in a few seconds under %s, and the process ends by itself', async (sync) => {
    const { code, lines } = await stress(2, '--sync', sync)
    console.info(lines.at(-1))
    expect(lines.filter((line) => line.includes('VIOLATED'))).toEqual([])
    expect(code).toBe(0)
  })

  it.each(engines)('on the load/store twin under %s admits too much, and says how to see it again', async (sync) => {
    const { code, lines } = await stress(20, '--twin', '--sync', sync)
    expect(lines.at(-2)).toMatch(/^VIOLATION in round \d+ of seed \d+; again: HOTBUCKET_SEED=/)
    expect(code).toBe(1)
  })

  it('on the twin whose lock is waited for without end loses a thread', async () => {
    const { code, lines } = await stress(60, '--twin=endless-wait', '--sync', 'mutex', '--scenario', 'kills', '--algorithm', 'token bucket')
    expect(lines.join('\n')).toMatch(/left with code 7/)
    expect(code).toBe(1)
  })
})
