/** Walks a model to the bound that the run is for: `npm test`, or the deep one of `npm run stress -- --explore`. */
import type { Core, Patch } from './core.ts'
import type { Report } from './explorer.ts'
import { explore, replay } from './explorer.ts'
import type { Bounded } from './models.ts'
import { build } from './plan.ts'

/** True in a deep run. */
export const deep = process.env.HOTBUCKET_EXPLORE === 'deep'
/** A bound that only a hang reaches, ms. */
export const TIMEOUT = deep ? 3_600_000 : 120_000

/**
 * An unsettled claim in a full group is looked at again 64 times; once again shows all that can happen, in far fewer
 * states. So with a clock that is read anew 16 times. Models with a slot for every key, and clocks that agree, run the code as it is.
 */
export const IMPATIENCE: readonly Patch[] = [
  { from: 'const PATIENCE = 64;', to: 'const PATIENCE = 1;' },
  { from: 'const MOST_LOOKS = 16;', to: 'const MOST_LOOKS = 1;' },
]

/** What the walk of a model finds, and the steps of the schedule that fails. */
export function walk(core: Core, plan: Bounded, states = deep ? 3_000_000 : 400_000): Report & { trace: string[] } {
  const preemptions = (deep ? plan.deep : plan.bound) ?? plan.preemptions ?? Infinity
  const { model, checks } = build(core, { ...plan, preemptions })
  const report = explore(model, checks, { states, steps: 300 })
  const trace = report.failure === undefined ? [] : replay(model, checks, report.failure.schedule).trace
  return { ...report, trace }
}

/** How far a walk went. */
export function summary({ states, schedules, ends, complete }: Report, { bound, deep: far }: Bounded): string {
  const most = deep ? far : bound
  const scope = most === undefined || most === Infinity ? 'all' : `all with at most ${most} preemptions`
  return `${states} states, ${schedules} schedules (${complete ? scope : 'cut off'}), ${ends} ends`
}
