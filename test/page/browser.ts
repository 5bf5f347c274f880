/** Chromium, where there is one, and the demo's live page in a process of its own. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** From CHROMIUM_PATH, or the first of the usual names that the shell knows. */
function executable(): string | undefined {
  const given = process.env.CHROMIUM_PATH
  if (given !== undefined && existsSync(given)) return given
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' })
    if (status === 0) return stdout.trim()
  }
  return undefined
}

export const chromiumPath = executable()

export function launch(): Promise<Browser> {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  return chromium.launch({ executablePath: chromiumPath!, args: flags })
}

export interface Served {
  readonly url: string
  /** Ends it as Ctrl+C does; its exit code. */
  stop(): Promise<number | null>
}

/** Starts `npm start -- --serve` on a free port, with more arguments; resolves once it tells its address. */
export async function serve(...args: string[]): Promise<Served> {
  const child = spawn(process.execPath, [join(root, 'dist/demo/main.js'), '--serve', '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit') as Promise<[number | null]>
  let text = ''
  child.stdout.setEncoding('utf8')
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    text += piece
    const url = /Live page: (\S+)/.exec(text)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    const stop = async () => {
      child.kill('SIGINT')
      return (await exited)[0]
    }
    return { url, stop }
  }
  throw new Error(`the page did not come up:\n${text}`)
}
