/** The findings as a picture: for each policy what it refused over time, and whom. */
import type { Findings, Verdict } from './findings.ts'
import type { Timeline } from './timeline.ts'

const [WIDTH, PANEL, CHART, CHART_X, BARS_X, BARS] = [1_000, 190, 110, 24, 600, 376]

const STYLE = `svg{font:13px system-ui,sans-serif;background:#fff;color:#1c1f26}text{fill:currentColor}.dim{opacity:.62}.t{font-size:18px;font-weight:600}
.p{font-weight:600;font-family:ui-monospace,monospace}.ok{fill:#9db4c0}.no{fill:#d1495b}.line{stroke:currentColor;opacity:.18}
@media (prefers-color-scheme:dark){svg{background:#14171c;color:#e6e8ec}.ok{fill:#4a6572}.no{fill:#ef6f7f}}`

const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, '?').replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)
const n = (value: number): string => value.toFixed(1)
const comma = (value: number): string => value.toLocaleString('en-US')

function span(ms: number): string {
  const [unit, size] = ([['d', 86_400_000], ['h', 3_600_000], ['min', 60_000]] as const).find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Number((ms / size).toFixed(1))} ${unit}`
}

/** Admitted below, refused above: one path each, a bar a bin. */
function chart(requests: Float64Array, refused: Float64Array, top: number): string {
  const bins = requests.findLastIndex((value) => value > 0) + 1
  const most = Math.max(...requests)
  const [width, base] = [540 / bins, top + CHART]
  let [ok, no] = ['', '']
  for (let bin = 0; bin < bins; bin++) {
    const all = (requests[bin]! / most) * CHART
    const lost = (refused[bin]! / most) * CHART
    const [x, w] = [n(CHART_X + bin * width), n(Math.max(0.5, width - 0.3))]
    if (all > lost) ok += `M${x} ${n(base)}v${n(lost - all)}h${w}v${n(all - lost)}z`
    if (lost > 0) no += `M${x} ${n(base - all)}h${w}v${n(lost)}h-${w}z`
  }
  return `<path class="ok" d="${ok}"/><path class="no" d="${no}"/><path class="line" d="M${CHART_X} ${base}.5h540"/>`
}

function bars({ worst }: Verdict, top: number): string {
  const shown = worst.slice(0, 5)
  const most = Math.max(1, ...shown.map(({ refused, requests }) => requests ?? refused))
  if (shown.length === 0) return `<text class="dim" x="${BARS_X}" y="${top + 14}">refuses nobody</text>`
  return shown
    .map(({ client, refused, requests = refused }, at) => {
      const [y, lost, all] = [top + at * 24, (refused / most) * BARS, (requests / most) * BARS]
      return `<text x="${BARS_X}" y="${y + 10}">${escaped(client.slice(0, 34))}</text><text class="dim" x="${BARS_X + BARS}" y="${y + 10}" text-anchor="end">${comma(refused)} of ${comma(requests)}</text>
<path class="no" d="M${BARS_X} ${y + 14}h${n(lost)}v4h-${n(lost)}z"/><path class="ok" d="M${n(BARS_X + lost)} ${y + 14}h${n(all - lost)}v4h-${n(all - lost)}z"/>`
    })
    .join('\n')
}

function panel(verdict: Verdict, requests: Float64Array, refused: Float64Array, top: number): string {
  const share = `${(verdict.refusedShare * 100).toFixed(1)}% refused, ${comma(verdict.clientsTouched)} clients touched, largest burst ${comma(verdict.burstAsked.requests)}, let through ${comma(verdict.burstLetThrough.requests)}`
  return `<text class="p" x="${CHART_X}" y="${top}">${escaped(verdict.policy)}</text><text class="dim" x="${CHART_X}" y="${top + 18}">${share}</text>
${chart(requests, refused, top + 30)}
<text class="dim" x="${BARS_X}" y="${top}">worst hit</text>
${bars(verdict, top + 16)}`
}

/** An SVG, which needs nothing besides itself. */
export function picture(findings: Findings, timeline: Timeline | undefined): string {
  const height = 96 + (timeline === undefined ? 0 : findings.policies.length * PANEL)
  const head = `${comma(findings.requests)} requests of ${comma(findings.clients)} clients, by ${escaped(findings.keyedBy)}`
  const when = findings.from === null ? 'nothing to replay' : `${findings.from.slice(0, 16).replace('T', ' ')} to ${findings.to!.slice(0, 16).replace('T', ' ')} UTC; a bar is ${span(timeline!.binMs)}; red is refused`
  const panels = timeline === undefined ? [] : findings.policies.map((verdict, at) => panel(verdict, timeline.series[0]!, timeline.series[at + 1]!, 104 + at * PANEL))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${head}">
<style>${STYLE}</style>
<text class="t" x="${CHART_X}" y="38">${head}</text><text class="dim" x="${CHART_X}" y="60">${when}</text>
${panels.join('\n')}
</svg>
`
}
