/** The worked examples, call by call and byte by byte. */
import { termsOf } from '../../src/arithmetic/compile.ts'
import { RateLimiter, SharedClock } from '../../src/index.ts'
import * as layout from '../../src/memory/layout.ts'
import * as word from '../../src/memory/word.ts'
import type { Document, Row } from '../document.ts'
import type { Findings } from './findings.ts'
import { policyFrom } from './findings.ts'

const EXAMPLE = ['ms', 'call', 'answer', 'state', 'generation', 'policy', 'phase', 'value']

function bytesOf(buffer: ArrayBufferLike, from: number, count = 8): string {
  return [...new Uint8Array(buffer, from, count)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

/** Makes the calls of each worked example and compares every byte. */
export function examples(page: Document, findings: Findings): void {
  const policies = [...page.text.matchAll(/^Policy `([^`]+)`/gm)].map(([, code]) => policyFrom(code!))
  // The times are read too, but another time may well give the same answer: no misprint can be told there.
  const told = EXAMPLE.slice(1)
  const log = page.table([...EXAMPLE, 'ring'], [...told, 'ring'])
  const first = page.number(/has one slot, at byte (\d+)/)
  const ring = page.number(/whose ring begins at byte (\d+)/)
  const startMs = page.number(/The clock stands at (\d+) when it is made/)
  const [born] = page.say(/`bornMs` is `([0-9a-f ]+)`/)
  const counter = page.number(/makes the cell at byte (\d+) \(`allowed`, line 0\)/)
  ;[...page.tables(EXAMPLE, told), log].forEach((rows, at) => {
    const clock = new SharedClock(startMs)
    const limiter = new RateLimiter({ policy: policies[at]!, maxKeys: 1, clock })
    const { buffer } = limiter.handle
    findings.same('bornMs', born, bytesOf(buffer, layout.BORN_MS_F64 * 8))
    let claim: Row | undefined
    let counted = false
    rows.forEach((row, line) => {
      const said = [row.generation, row.policy, row.phase, row.value].join()
      const state = new DataView(Uint8Array.from(row.state!.split(' '), (byte) => parseInt(byte, 16)).buffer).getBigInt64(0, true)
      const hi = word.hiOf(state)
      findings.same(`${row.state}`, said, [word.generationOf(hi), word.policyIndexOf(hi), word.phaseOf(hi), word.valueOf(state)].join())
      if (row.call!.startsWith('claimed')) return void (claim = row)
      clock.set(Number(row.ms))
      if (claim !== undefined) {
        findings.same('time of the claim', `${claim.ms} ${claim.value}`, `${row.ms} ${(clock.nowMs() - startMs) * word.CLAIM_UNITS_PER_MS}`)
        findings.same('phase of the claim', Number(claim.phase), word.TENTATIVE)
        findings.same('generation of the claim', `${claim.generation} ${claim.policy}`, `${row.generation} ${row.policy}`)
        claim = undefined
      }
      const answer = new Function('limiter', `return limiter.${row.call}`)(limiter) as unknown
      findings.same(`${row.call} of example ${at}, line ${line}`, row.answer, answer === undefined ? '' : String(answer))
      findings.same(`state after ${row.call} of example ${at}, line ${line}`, row.state, bytesOf(buffer, first))
      if (!counted && limiter.stats().allowed === 1) {
        counted = true
        findings.same('allowed', new Int32Array(buffer)[counter / 4], 1)
      }
      row.ring?.split('<br>').forEach((record, place) => findings.same(`record ${place} after ${row.call}`, record, bytesOf(buffer, ring + 8 * place)))
    })
  })
  const [bucket] = termsOf(policies[0]!, 0)
  const numbers = page.say(/l \/ p is (\d+) \/ (\d+), k is (\d+), a millisecond is (\d+) units, a token (\d+), the ceiling (\d+)/).join()
  findings.same('the first policy', numbers, [1, 6_000, 167, bucket!.unitsPerRefill, bucket!.unitsPerToken, bucket!.ceiling].join())
}
