import { test } from 'vitest'
import { loadCore } from './core.ts'
import { explore, replay } from './explorer.ts'
import { build } from './plan.ts'
import type { Plan } from './plan.ts'

const plans: Record<string, Plan> = {
  aba: { slots: 2, burst: 2, before: [[90, 'x'], [95, 'z']], threads: [['y'], ['x', 'x']], times: [100, 101, 106], mayBeFull: true },
  aba2: { slots: 2, burst: 1, before: [[90, 'x']], threads: [['y'], ['x', 'x']], times: [100, 101], mayBeFull: true },
}
const core = await loadCore()
for (const [name, plan] of Object.entries(plans)) {
  test(name, { timeout: 100_000 }, () => {
    const { model, checks } = build(core, plan)
    const start = performance.now()
    const report = explore(model, checks, { states: 500_000 })
    console.log(name, JSON.stringify(report), Math.round(performance.now() - start), 'ms')
    if (report.failure) console.log(replay(model, checks, report.failure.schedule).trace.join('\n'))
  })
}
