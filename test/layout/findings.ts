/** What is said and what is so: how a check of the layout page tells, and what several of them need. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Policy } from '../../src/index.ts'
import * as hotbucket from '../../src/index.ts'
import { Document } from '../document.ts'

export type Check = (page: Document, findings: Findings) => void

const memory = new URL('../../src/memory/', import.meta.url)
const sources = readdirSync(memory).map((name) => readFileSync(new URL(name, memory), 'utf8')).join('\n')

/** A constant that its module keeps to itself, read off its source. */
export function constant(name: string): number {
  const [, base, shift] = new RegExp(`const ${name} = (\\d+)(?: << (\\d+))?$`, 'm').exec(sources) ?? []
  return Number(base) * 2 ** Number(shift ?? 0)
}

/** What is said and what is so, where they differ. */
export class Findings {
  readonly found: string[] = []

  same(what: string, said: unknown, is: unknown): void {
    if (!Object.is(said, is)) this.found.push(`${what}: the page says ${String(said)}, the code ${String(is)}`)
  }

  /** Runs a check; one that throws has found something too. */
  run(check: Check, page: Document): void {
    try {
      check(page, this)
    } catch (error) {
      this.found.push(String(error))
    }
  }
}

/** The policy that a piece of the page makes. */
export function policyFrom(code: string): Policy {
  return new Function('hotbucket', `return hotbucket.${code}`)(hotbucket) as Policy
}

/** Every difference between the page and the code that `check` finds, and the page as far as it was read. */
export function compared(text: string, check: Check): { found: string[]; page: Document } {
  const findings = new Findings()
  const page = new Document(text)
  findings.run(check, page)
  return { found: findings.found, page }
}
