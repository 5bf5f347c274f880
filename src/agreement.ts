/** Whether the policies of two sides agree. */
import type { Terms } from './arithmetic/algorithm.ts'
import type { Policy } from './arithmetic/policy.ts'
import { badHandle, outOfRange } from './errors.ts'

/** Throws ERR_HOTBUCKET_HANDLE unless the tiers of `wanted`, in `whose` name, are those that the arena holds. */
export function comparePolicies(held: ReadonlyMap<string, Policy>, wanted: Readonly<Record<string, Policy>>, whose: string): void {
  const [there, given] = [[...held.keys()].join(), Object.keys(wanted).join()]
  if (there !== given) throw badHandle(`${whose} has the tiers ${given}, the arena ${there}`)
  for (const [name, policy] of held) {
    const [have, want] = [JSON.stringify(policy), JSON.stringify(wanted[name])]
    if (have !== want) throw badHandle(`tier ${name} is ${want} in ${whose}, ${have} in the arena`)
  }
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
