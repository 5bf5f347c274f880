/** The verbs of a bucket, as steps of its algorithm. */
import type { Step, Terms } from '../arithmetic/algorithm.ts'
import { REFUSED_STEP } from '../arithmetic/algorithm.ts'

/** What a call does to a bucket. Only a spend makes an absent one. */
export type Verb = 'spend' | 'refund' | 'look'

/** Looks at a state and leaves it. */
const look: Step = () => REFUSED_STEP

/** A cost above the burst can never be spent, so it only looks. */
export function stepOf(verb: Verb, { algorithm, burst }: Terms, cost: number): Step {
  if (verb === 'spend' && cost <= burst) return algorithm.spend
  return verb === 'refund' ? algorithm.refund : look
}
