/** `npm start -- --serve`: stays up with the live page until it is told to stop. */
import type { Flags } from './flags.ts'
import { Live } from './live.ts'
import { startPage } from './page.ts'

/** How many of a log's requests are kept for the page's traffic. */
export const KEPT = 5_000

export interface Stay {
  readonly out: (text: string) => void
  readonly worker: URL
  /** Resolves when the page is to end. */
  readonly stopped: Promise<unknown>
}

/** Serves until `stopped`. Throws UsageError where the port cannot be had. */
export async function serve(flags: Flags, clients: readonly string[], { out, worker, stopped }: Stay): Promise<void> {
  const live = await Live.start({ limit: flags.limit, per: flags.per, periodMs: flags.periodMs, clients, worker })
  try {
    const page = await startPage(live, flags.port)
    out(`\n  Live page: ${page.url} (Ctrl+C ends it)\n`)
    await stopped
    await page.close()
  } finally {
    await live.close()
  }
}
