/** What a replay comes to: plain data, which the report, the picture and `--json` all show. */
import type { Peak } from './burst.ts'
import type { Replay } from './replay.ts'
import type { Trial } from './trial.ts'

export interface Hit {
  readonly client: string
  readonly refused: number
  /** Undefined for a client that came too late to be counted by itself; then `refused` is at most so much. */
  readonly requests: number | undefined
}

/** The most requests of one client within one period, the period's start excluded. */
export interface PeakShown {
  readonly requests: number
  readonly client: string | null
  /** When the last of them came. */
  readonly at: string | null
}

export interface Verdict {
  readonly policy: string
  readonly per: string
  readonly admitted: number
  readonly refused: number
  readonly refusedShare: number
  /** Clients refused at least once. */
  readonly clientsTouched: number
  /** Clients of whose requests more than half were refused. */
  readonly clientsMostlyRefused: number
  /** The fewest clients on whom nine tenths of the refusals fall, and the share of their requests that they lost. */
  readonly heart: { readonly clients: number; readonly lostShare: number }
  /** The other touched clients, and the share of their requests that they lost. */
  readonly rest: { readonly clients: number; readonly lostShare: number }
  readonly worst: readonly Hit[]
  readonly burstAsked: PeakShown
  readonly burstLetThrough: PeakShown
  /** What of this is an estimate, and why; empty where all is exact. */
  readonly estimates: readonly string[]
}

export interface Findings {
  readonly files: readonly string[]
  readonly keyedBy: string
  readonly lines: number
  readonly unreadable: number
  readonly requests: number
  readonly clients: number
  readonly clientsAtLeast: boolean
  readonly from: string | null
  readonly to: string | null
  readonly stepsBack: number
  readonly faults: readonly { readonly file: string; readonly reason: string }[]
  readonly policies: readonly Verdict[]
}

function peakOf({ count, row, timeMs }: Peak, names: readonly string[]): PeakShown {
  return row < 0 ? { requests: 0, client: null, at: null } : { requests: count, client: names[row]!, at: new Date(timeMs).toISOString() }
}

/** Rows in the order of their refusals, of those refused at all. */
function touchedRows({ refusals }: Trial, rows: number): number[] {
  const touched: number[] = []
  for (let row = 0; row < rows; row++) if (refusals[row]! > 0) touched.push(row)
  return touched.sort((a, b) => refusals[b]! - refusals[a]! || a - b)
}

function verdictOf(trial: Trial, replay: Replay, top: number): Verdict {
  const { names, requests, overflowed } = replay.ledger
  const { refusals, crowd, refused, admitted } = trial
  const touched = touchedRows(trial, names.length)
  const inRows = touched.reduce((sum, row) => sum + refusals[row]!, 0)
  const group = (rows: readonly number[]) => {
    const [lost, asked] = rows.reduce(([a, b], row) => [a + refusals[row]!, b + requests[row]!], [0, 0])
    return { clients: rows.length, lostShare: asked === 0 ? 0 : lost / asked }
  }
  let heart = 0
  for (let sum = 0; heart < touched.length && sum < 0.9 * inRows; heart++) sum += refusals[touched[heart]!]!
  const rowHits = touched.slice(0, top).map((row): Hit => ({ client: names[row]!, refused: refusals[row]!, requests: requests[row]! }))
  const crowdHits = (crowd?.worst ?? []).map(({ key, count }): Hit => ({ client: key, refused: count, requests: undefined }))
  return {
    policy: trial.named.name,
    per: trial.named.per,
    admitted,
    refused,
    refusedShare: replay.requests === 0 ? 0 : refused / replay.requests,
    clientsTouched: touched.length + (crowd?.clients ?? 0),
    clientsMostlyRefused: touched.filter((row) => refusals[row]! * 2 > requests[row]!).length,
    heart: group(touched.slice(0, heart)),
    rest: group(touched.slice(heart)),
    worst: [...rowHits, ...crowdHits].sort((a, b) => b.refused - a.refused).slice(0, top),
    burstAsked: peakOf(trial.asked.peak, names),
    burstLetThrough: peakOf(trial.passed.peak, names),
    estimates: estimatesOf(trial, overflowed, names.length),
  }
}

function estimatesOf(trial: Trial, overflowed: boolean, rows: number): string[] {
  const { crowd, tableFull } = trial
  const estimates: string[] = []
  if (tableFull > 0) estimates.push(`admitted: ${tableFull} requests of new clients were let through, since as many clients as the table holds were short of a full allowance`)
  if (overflowed) estimates.push(`bursts, and clients by how much they lost: of the first ${rows} clients only`)
  if (crowd !== undefined) estimates.push('worst-hit clients without a number of requests: refused at most so often')
  if (crowd?.isFull === true) estimates.push('clients touched: at least so many')
  if (trial.asked.isEstimate || trial.passed.isEstimate) estimates.push('bursts: at least so many, since a period had more requests than are held')
  return estimates
}

/** What `replay` found, with the `top` worst-hit clients of each policy. */
export function findingsOf(replay: Replay, files: readonly string[], keyedBy: string, top: number): Findings {
  const { timeline, ledger } = replay
  const iso = (ms: number): string | null => (timeline === undefined ? null : new Date(ms).toISOString())
  return {
    files,
    keyedBy,
    lines: replay.lines,
    unreadable: replay.unreadable,
    requests: replay.requests,
    clients: ledger.clients,
    clientsAtLeast: ledger.isEstimate,
    from: iso(timeline?.startMs ?? 0),
    to: iso(replay.endMs),
    stepsBack: replay.stepsBack,
    faults: replay.faults,
    policies: replay.trials.map((trial) => verdictOf(trial, replay, top)),
  }
}
