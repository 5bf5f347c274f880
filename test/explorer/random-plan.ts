/** Models nobody thought of: small plans drawn from a seed. */
import type { Plan } from './plan.ts'
import { SWEEP } from './plan.ts'

/** Draws whole numbers from 0 up to, not including, its argument; a linear congruential generator. */
export type Draw = (below: number) => number

export function drawFrom(seed: number): Draw {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

export function randomPlan(draw: Draw): Plan {
  const times = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
  const slots = 1 + draw(3)
  const keys = ['x', 'y', '-x', SWEEP, 'z'].slice(0, 2 + draw(4))
  const before = times(draw(slots + 1)).map((i): [number, string] => [85 + 5 * draw(4), ['x', 'y', 'z'][i]!])
  const readings = [100]
  for (const _ of times(draw(3))) readings.push(readings.at(-1)! + [1, 5, 10, 11][draw(4)]!)
  return {
    slots,
    burst: 1 + draw(2),
    before: before.sort(([a], [b]) => a - b),
    threads: times(2 + draw(2)).map(() => times(1 + draw(2)).map(() => keys[draw(keys.length)]!)),
    times: readings,
    kills: draw(2),
    preemptions: 1 + draw(3),
    cached: draw(2) === 1,
    plain: draw(2) === 1 ? 'turns' : 'attached',
    mutex: draw(4) === 0,
    timeouts: 'any',
    mayBeFull: true,
  }
}
