/** Whether the policies of two sides agree. */
import type { Terms } from './arithmetic/algorithm.ts'
import { policyOf } from './arithmetic/compile.ts'
import type { Policy } from './arithmetic/policy.ts'
import { badHandle, outOfRange } from './errors.ts'
import type { Arena } from './memory/arena.ts'

/** Throws ERR_HOTBUCKET_HANDLE at the first tier whose policy in `wanted` is not the arena's. */
export function comparePolicies(arena: Arena, names: readonly string[], wanted: Readonly<Record<string, Policy>>, whose: string): void {
  if (Object.keys(wanted).join() !== names.join()) {
    throw badHandle(`${whose} has the tiers ${Object.keys(wanted).join(', ')}, the arena ${names.join(', ')}`)
  }
  names.forEach((name, tier) => {
    const held = JSON.stringify(policyOf(arena.policies.parts(tier).map((part) => part.terms)))
    const given = JSON.stringify(wanted[name])
    if (held !== given) throw badHandle(`tier ${name} is ${given} in ${whose}, ${held} in the arena`)
  })
}

/** Throws ERR_HOTBUCKET_POLICY unless buckets of `old` can be carried over to `next`. */
export function comparableTerms(old: readonly Terms[], next: readonly Terms[]): void {
  const names = (terms: readonly Terms[]) => terms.map(({ algorithm }) => algorithm.name).join(' and ')
  if (names(old) !== names(next)) throw outOfRange('ERR_HOTBUCKET_POLICY', 'algorithm', names(next), `${names(old)}, as it was`)
  old.forEach((part, at) => {
    const { limit, ringSize, unitsPerRefill } = next[at]!
    if (ringSize === part.ringSize && (ringSize === 0 || unitsPerRefill === part.unitsPerRefill)) return
    throw outOfRange('ERR_HOTBUCKET_POLICY', 'limit', limit, `${part.limit}, as it was: the log of a live bucket cannot be rewritten`)
  })
}
