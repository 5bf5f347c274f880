/** The findings as a person reads them. */
import { count, plural, printable } from '../log/usage.ts'
import type { Findings, Hit, PeakShown, Verdict } from './findings.ts'
import type { Replay } from './replay.ts'

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`
const day = (iso: string): string => iso.slice(0, 19).replace('T', ' ')
/** A key may be UTF-8 read byte by byte, or text: either way the terminal gets no control characters. */
const shown = (key: string): string => printable(key)

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) => `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   ')}`.trimEnd())
}

function headLines(findings: Findings, { named, farthestBack, stepsBack }: Replay): string[] {
  const { lines, unreadable, requests, clients, clientsAtLeast, keyedBy, from, to, faults } = findings
  const name = findings.files.length === 1 ? printable(findings.files[0]!) : plural(findings.files.length, 'file')
  const rest = unreadable - named.length
  const text = [`  ${name}: ${plural(lines, 'line')}, ${plural(requests, 'request')}, ${clientsAtLeast ? 'at least ' : ''}${plural(clients, 'client')} by ${printable(keyedBy)}`]
  if (from !== null) text.push(`  ${day(from)} to ${day(to!)} UTC${stepsBack === 0 ? '' : `; time steps back ${plural(stepsBack, 'time')}, by ${plural(Math.round(farthestBack!.ms / 1_000), 'second')} at most`}`)
  // Hours behind: an odd line moved the clock on, or files overlap. Either way what follows stands still.
  if (farthestBack !== undefined && farthestBack.ms >= 3_600_000) {
    text.push(`  The clock stood still for a long time: see ${printable(farthestBack.file)}, line ${count(farthestBack.line)}.`)
  }
  for (const { file, reason } of faults) text.push(`  Reading ${printable(file)} ended early: ${printable(reason)}. All lines before that count.`)
  if (faults.length > 0) text.push('  This report is partial.')
  if (unreadable > 0) {
    text.push('', `  ${plural(unreadable, 'line')} could not be read and ${unreadable === 1 ? 'was' : 'were'} left out:`)
    for (const { file, line, reason } of named) text.push(`    ${findings.files.length > 1 ? `${printable(file)} ` : ''}line ${count(line)}: ${printable(reason)}`)
    if (rest > 0) text.push(`    and ${count(rest)} more`)
  }
  return text
}

function policyTable(findings: Findings): string[] {
  const peak = ({ requests }: PeakShown): string => count(requests)
  return table([
    ['policy', 'refused', '', 'clients touched', '', 'lost over half', 'largest burst', 'let through'],
    ...findings.policies.map((verdict) => [
      printable(verdict.policy),
      count(verdict.refused),
      percent(verdict.refusedShare),
      count(verdict.clientsTouched),
      percent(verdict.clientsTouched / findings.clients),
      count(verdict.clientsMostlyRefused),
      `${peak(verdict.burstAsked)} in ${verdict.per}`,
      peak(verdict.burstLetThrough),
    ]),
  ])
}

function hitRow({ client, refused, requests }: Hit): string[] {
  if (requests === undefined) return [`  ${shown(client)}`, `refused at most ${count(refused)}`, '']
  return [`  ${shown(client)}`, `refused ${count(refused)} of ${count(requests)}`, percent(refused / requests)]
}

function verdictLines({ policy, refused, worst, heart, rest, burstLetThrough, per, estimates }: Verdict): string[] {
  const text = ['', `  ${printable(policy)}`]
  if (refused === 0) text.push('    refuses nobody.')
  else {
    const others = rest.clients === 0 ? 'Nobody else is touched.' : `The other ${plural(rest.clients, 'client')} touched lost ${percent(rest.lostShare)} of theirs.`
    if (heart.clients > 0) text.push(`    Nine tenths of the refusals fall on ${plural(heart.clients, 'client')}, who lost ${percent(heart.lostShare)} of their requests. ${others}`)
    text.push(...table(worst.map(hitRow)))
  }
  if (burstLetThrough.client !== null) {
    text.push(`    Largest burst let through in ${per}: ${count(burstLetThrough.requests)}, of ${shown(burstLetThrough.client)} at ${day(burstLetThrough.at!)}`)
  }
  for (const estimate of estimates) text.push(`    Estimate: ${estimate}.`)
  return text
}

/** The whole report; `ms` is how long it took. */
export function report(findings: Findings, replay: Replay, ms: number): string {
  const text = ['', ...headLines(findings, replay), '']
  if (findings.requests === 0) return [...text, '  Nothing to replay.', ''].join('\n')
  text.push(...policyTable(findings), ...findings.policies.flatMap(verdictLines), '')
  text.push(`  ${count(findings.lines)} lines in ${(ms / 1_000).toFixed(1)} s: ${count(Math.round((findings.lines * 1_000) / Math.max(1, ms)))} a second`, '')
  return text.join('\n')
}
