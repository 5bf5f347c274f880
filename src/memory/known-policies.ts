/** The policies of an arena as one attached thread knows them: read again when their version has moved on. */
import { MAX_TIME_MS } from '../arithmetic/algorithm.ts'
import type { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import type { Part } from './policy-table.ts'

export class KnownPolicies {
  /** By tier: the parts of its policy, in order. */
  readonly parts: Part[][] = []
  /** By tier: whether its policy has several parts. */
  readonly composite: boolean[] = []
  /** The version of the policies as of which this is so. */
  version = -1
  private readonly arena: Arena
  private readonly reader: Reader

  constructor(arena: Arena, reader: Reader) {
    this.arena = arena
    this.reader = reader
    this.refresh()
  }

  /** Reads the policies again if any was set since; says whether. */
  refresh(): boolean {
    const { policies, tierCount, bornMs } = this.arena
    const { version } = policies
    if (version === this.version) return false
    this.version = version
    let horizonMs = Infinity
    for (let tier = 0; tier < tierCount; tier++) {
      this.parts[tier] = policies.parts(tier)
      this.composite[tier] = this.parts[tier]!.length > 1
      for (const { terms } of this.parts[tier]!) horizonMs = Math.min(horizonMs, terms.horizonMs)
    }
    this.reader.horizonMs = Math.min(MAX_TIME_MS, bornMs + horizonMs)
    return true
  }
}
