/** Workers terminated at random while they hold whatever they hold (G8). */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { seed } from '../oracle/timeline.ts'
import type { Fault } from './crew.ts'
import { CAUGHT_IN_TIME } from './retry.ts'

/** Under each sync: 200 in all; HOTBUCKET_KILLS for more. */
const KILLS = Number(process.env.HOTBUCKET_KILLS ?? 100)
const script = fileURLToPath(new URL('../workers/kills.mjs', import.meta.url))

interface Report {
  readonly killed: number
  readonly counted: number
  readonly spent: number
  readonly drained: boolean
  readonly keys: number
  readonly contended: number
  readonly lockTimeouts: number
  readonly failure?: string
}

/** Resolves when the process has ended by itself, which is part of the claim. */
async function kills(sync: string, count: number, fault: Fault | '' = ''): Promise<Report> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, sync, String(count), String(seed), fault])
  return JSON.parse(stdout) as Report
}

describe('a worker terminated at random while hammering a hot key', () => {
  it.each(engines)(`${KILLS} times under %s: survivors go on, no token appears, at most the dying call's is lost, the process ends (G8, HOTBUCKET_KILLS)`, async (sync) => {
    const report = await kills(sync, KILLS)
    console.info(`${sync}: ${JSON.stringify(report)}`)
    expect(report).toMatchObject({ killed: KILLS, drained: true, keys: 1, contended: 0 })
    expect(report).not.toHaveProperty('failure')
    expect(report.spent).toBeGreaterThanOrEqual(report.counted)
    expect(report.spent).toBeLessThanOrEqual(report.counted + KILLS)
  })

  it.each(engines)('on the load/store twin under %s finds tokens that nobody gave', CAUGHT_IN_TIME, async (sync) => {
    const { counted, spent } = await kills(sync, 3, 'load-store')
    expect(counted).toBeGreaterThan(spent)
  })

  it('on the twin whose lock is waited for without end wedges the survivors', CAUGHT_IN_TIME, async () => {
    expect(await kills('mutex', KILLS, 'endless-wait')).toMatchObject({ failure: 'wedged' })
  })
})
