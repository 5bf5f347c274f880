/** What a person reads at the end, and the exit code that goes with it. */
import { count, plural, printable } from '../log/usage.ts'
import type { Account, ClientAccount } from './account.ts'
import type { Flags } from './flags.ts'
import type { Replayed } from './replay.ts'
import { THREADS } from './replay.ts'

/** True when the shared limiter admitted exactly what the oracle admits, in all and for each client. */
export function isEqual({ totals, unequal }: Pick<Account, 'totals' | 'unequal'>): boolean {
  return totals.shared === totals.oracle && unequal.length === 0
}

/** 0 when the limiter and the oracle agree, else 1. */
export function exitCodeOf(account: Pick<Account, 'totals' | 'unequal'>): 0 | 1 {
  return isEqual(account) ? 0 : 1
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) => {
    const cells = row.map((cell, column) => (column === 0 || column === row.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
    return `  ${cells.join('   ')}`.trimEnd()
  })
}

function totalsTable(account: Account): string[] {
  const { requests, shared, oracle, maps } = account.totals
  const row = (name: string, admitted: number, remark: string) => [name, count(requests), count(admitted), count(requests - admitted), remark]
  const excess = maps - oracle
  return table([
    ['', 'requests', 'admitted', 'refused', ''],
    row(`one limiter, shared by ${THREADS} workers`, shared, ''),
    row('oracle: one thread, line by line', oracle, isEqual(account) ? 'equal' : 'NOT EQUAL'),
    row(`a Map in each of ${THREADS} workers`, maps, excess === 0 ? 'none too many, in this log' : `${count(excess)} too many`),
  ])
}

function busiestLines({ client, requests, mostInPeriod, shared, oracle, maps }: ClientAccount, { per, limit }: Flags): string[] {
  const multiple = oracle === 0 ? '' : `, ${(maps / oracle).toFixed(1)} times what the limit allows`
  return [
    `  Busiest client ${printable(client)}: ${plural(requests, 'request')}, up to ${count(mostInPeriod)} in ${per}.`,
    `    The limit of ${count(limit)} per ${per} allows ${count(oracle)}; the shared limiter admitted ${count(shared)}; the Maps ${count(maps)}${multiple}.`,
  ]
}

function unreadableLines({ unreadable, named }: Replayed): string[] {
  if (unreadable === 0) return []
  const rest = unreadable - named.length
  return [
    `  ${plural(unreadable, 'line')} could not be read and ${unreadable === 1 ? 'was' : 'were'} left out:`,
    ...named.map(({ line, reason }) => `    line ${line}: ${printable(reason)}`),
    ...(rest > 0 ? [`    and ${count(rest)} more`] : []),
    '',
  ]
}

function faultLines({ account, tableFull }: Replayed): string[] {
  if (isEqual(account)) return []
  const { unequal } = account
  return [
    '',
    `  The shared limiter and the oracle differ for ${plural(unequal.length, 'client')}:`,
    ...unequal.slice(0, 5).map(({ client, shared, oracle }) => `    ${printable(client)}: admitted ${count(shared)}, the oracle ${count(oracle)}`),
    ...(tableFull === 0 ? [] : [`    The limiter had no room for a new client ${plural(tableFull, 'time')}.`]),
  ]
}

/** The report of a replay of the log named `name`. */
export function report(name: string, flags: Flags, replayed: Replayed): string {
  const { account, lines, stepsBack, elapsedMs } = replayed
  const { requests } = account.totals
  const busiest = account.busiest
  const text = [
    '',
    `  ${printable(name)}: ${plural(lines, 'line')}, ${plural(account.clients, 'client')}, time steps back ${plural(stepsBack, 'time')}`,
    `  limit: ${count(flags.limit)} per ${flags.per} for each client address`,
    '',
    ...unreadableLines(replayed),
  ]
  if (busiest === undefined) return [...text, '  Nothing to replay.', ''].join('\n')
  const perSecond = Math.round((requests * 1_000) / elapsedMs)
  text.push(...totalsTable(account), '', ...busiestLines(busiest, flags), ...faultLines(replayed), '')
  text.push(`  ${count(requests)} requests over HTTP in ${(elapsedMs / 1_000).toFixed(1)} s: ${count(perSecond)} a second`, '')
  return text.join('\n')
}
