/** Random timelines: costs, small steps, long jumps and steps back. */
import * as fc from 'fast-check'
import type { Trial } from './registry.ts'

export interface Move {
  /** By how much the clock moves before the call; whole, and negative now and then. */
  readonly ms: number
  readonly cost: number
  readonly verb: 'allow' | 'consume' | 'peek'
}

const STEP_KINDS = 16

/** Up to `most` moves that suit a trial: drawn as fractions, so that they shrink independently of the policy. */
export function timeline(trial: Trial, most: number): fc.Arbitrary<Move[]> {
  const { burst, periodMs } = trial
  const tokenMs = Math.max(1, Math.floor(periodMs / Math.max(1, trial.limit)))
  const ms = (kind: number, part: number): number => {
    if (kind < 4) return 0
    if (kind < 7) return Math.floor(part * 3)
    if (kind < 11) return Math.floor(part * 2 * tokenMs)
    if (kind < 13) return Math.floor(part * 2 * periodMs)
    if (kind < 15) return -Math.floor(part * tokenMs) - (kind - 13)
    // Seldom: far back, or far enough ahead that everything is full.
    return part < 0.5 ? -Math.floor(part * periodMs) : Math.min(20_000_000, Math.floor(part * 3 * periodMs * (1 + burst / Math.max(1, trial.limit))))
  }
  const cost = (kind: number, part: number): number => {
    if (kind < 9) return 1
    if (kind < 11) return 0
    if (kind < 14) return Math.floor(part * (burst + 1))
    return kind < 15 ? burst : burst + 1 + Math.floor(part * 3)
  }
  const kind = fc.nat({ max: STEP_KINDS - 1 })
  const part = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const move = fc
    .tuple(kind, part, kind, part, fc.constantFrom('allow', 'consume', 'consume', 'peek'))
    .map(([a, b, c, d, verb]): Move => ({ ms: ms(a, b), cost: cost(c, d), verb }) as Move)
  return fc.array(move, { minLength: 1, maxLength: most, size: 'max' })
}

/** The seed of this run: HOTBUCKET_SEED, or a new one. It is printed, so that any run can be repeated. */
export const seed = Number(process.env.HOTBUCKET_SEED ?? (Math.random() * 0x7fffffff) | 0)
console.info(`HOTBUCKET_SEED=${seed}`)
