/** The policies of an arena as one attached thread knows them: read again when their version has moved on. */
import { MAX_TIME_MS } from '../arithmetic/algorithm.ts'
import type { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import * as layout from './layout.ts'
import type { Part } from './policy-table.ts'

// Held here: see cas.ts.
const { policyVersion } = layout.HEADER

export class KnownPolicies {
  /** By tier: the parts of its policy, in order. */
  readonly parts: Part[][] = []
  /** By tier: whether its policy has several parts. */
  readonly composite: boolean[] = []
  private readonly arena: Arena
  private readonly reader: Reader
  private readonly cells: Int32Array
  private version = -1

  constructor(arena: Arena, reader: Reader) {
    this.arena = arena
    this.reader = reader
    this.cells = arena.cells
    this.refresh()
  }

  /** True unless this thread has been told of a change by another. A plain read, for the call of a known key. */
  get current(): boolean {
    return this.cells[policyVersion] === this.version
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
