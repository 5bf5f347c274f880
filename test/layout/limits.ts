/** Units, horizons, bounds, and what is exact. */
import { MAX_VALUE, MIN_HORIZON_MS } from '../../src/arithmetic/algorithm.ts'
import { algorithmById, termsOf } from '../../src/arithmetic/compile.ts'
import { tokenBucket } from '../../src/index.ts'
import * as layout from '../../src/memory/layout.ts'
import type { Document } from '../document.ts'
import type { Findings } from './findings.ts'
import { constant, policyFrom } from './findings.ts'

const YEAR_MS = 365.25 * 86_400_000

export function algorithms(page: Document, findings: Findings): void {
  for (const { id, algorithm } of page.table(['id', 'algorithm', 'value', 'full when'], ['id'])) findings.same(`algorithm ${id}`, algorithm, algorithmById(Number(id))?.name)
  const outcome = ['units a ms', 'units a token', 'horizon, years']
  for (const { policy, ...said } of page.table(['policy', ...outcome], outcome)) {
    const [terms] = termsOf(policyFrom(policy!), 0) as [ReturnType<typeof termsOf>[number]]
    const years = (terms.horizonMs / YEAR_MS).toFixed(1)
    findings.same(policy!, Object.values(said).join(), [terms.unitsPerRefill, terms.unitsPerToken, years].join())
  }
  const steepest = Math.floor(MAX_VALUE / MIN_HORIZON_MS)
  for (const pattern of [/`l × k` exceeds (\d+)/, /terms, is at most\n(\d+)/, /Beyond (\d+)/, /steeper than (\d+)/]) findings.same('the steepest line', page.number(pattern), steepest)
  findings.same('the least horizon', page.number(/\(limit \+ 1\) \/ (\d+)\)\)/), MIN_HORIZON_MS)
  for (const pattern of [/cannot hold for (\d+) days/, /less than (\d+) days/]) findings.same('the least horizon, days', page.number(pattern), MIN_HORIZON_MS / 86_400_000)
  const burst = page.number(/1 a second admits a burst up to (\d+)/)
  tokenBucket({ limit: 1, periodMs: 1_000, burst })
  let [above, refused] = [burst + 1, false]
  try {
    tokenBucket({ limit: 1, periodMs: 1_000, burst: above })
  } catch {
    refused = true
  }
  findings.same(`a burst of ${above}`, refused, true)
}

export function limits(page: Document, findings: Findings): void {
  findings.same('turns', page.number(/loses (\d+) turns in a row/), constant('MOST_TURNS'))
  findings.same('rounds', page.number(/begins anew (\d+) times/), constant('MOST_ROUNDS'))
  findings.same('cached places', page.say(/holds (\d+) places of keys up to (\d+) code units/).join(), `${constant('ENTRIES')},${constant('LONGEST_KEY')}`)
  findings.same('parts', page.number(/so (\d+) parts are the most/), layout.POLICY_COUNT - 1)
  findings.same('policy entries', page.say(/Of the (\d+) policy entries/).join() + ',' + page.say(/when its turn comes, (\d+) entries later/).join(), `${layout.POLICY_COUNT},${layout.POLICY_COUNT - 1}`)
  const [hourly] = termsOf(tokenBucket({ limit: 5_000, periodMs: 3_600_000 }), 0)
  findings.same('why 64 bits', page.say(/is (\d+) units a token when a unit is a microsecond, so the TAT leads by up to (\d+), which\ntakes (\d+) bits/).join(), [hourly!.unitsPerToken, hourly!.ceiling, Math.ceil(Math.log2(hourly!.ceiling))].join())
  findings.same('in millionths', page.number(/needs more, (\d+)\./), 5_000 * 1_000_000)
  const [fast, slow] = page.say(/one token: (\d+) ms at 1,000 a\nsecond, ([\d.]+) minutes at 10 a minute/).map(Number)
  findings.same('the quickest round, fast', fast, 128 * (1_000 / 1_000))
  findings.same('the quickest round, slow', slow, (128 * (60 / 10)) / 60)
  findings.same('up to', page.say(/Up to (\d): exactly/)[0], String(layout.WAYS))
  findings.same('slots a key', page.say(/Above \d: (\d\/\d) slots a key/)[0], `${layout.WAYS}/${layout.KEYS_PER_BUCKET}`)
  findings.same('the load', page.say(/loaded to (\d\/\d)/)[0], `${layout.KEYS_PER_BUCKET}/${layout.WAYS}`)
}
