/** The one path from a request to a verdict that all adapters share; knows no framework. */
import { atOnce, wrongType } from '../errors.ts'
import type { Decision } from '../index.ts'
import type { Answer, Fields } from './answer.ts'
import { checkedDecision, faultAnswer, fieldsOf, refusalOf } from './answer.ts'
import type { GateOptions, Limiter } from './options.ts'
import { checkOptions } from './options.ts'

/** What becomes of one request. */
export interface Verdict {
  /** What to answer with; undefined where the request may go on. */
  readonly answer?: Answer
  /** The refusal behind `answer`; undefined where the limit could not be checked. */
  readonly refused?: Decision
  /** Fields for the handler's own answer. */
  readonly fields: Fields
  /** Settles the charge, once, by the status of a response that was sent whole. Never throws. Undefined where there is nothing to settle. */
  readonly settle?: (status: number) => void
}

const freePassage: Verdict = { fields: {} }
const closed: Verdict = { answer: faultAnswer, fields: {} }

export class Gate<C> {
  readonly #limiter: Limiter
  readonly #options: GateOptions<C>
  readonly #keyOf: (request: C) => unknown
  readonly #tiers = new Map<string, Limiter>()
  readonly #warned = new Set<string>()

  /** `addressOf` gives the key where the options have no key function. Throws as `checkOptions`. */
  constructor(limiter: Limiter, options: GateOptions<C>, addressOf: (request: C) => string | undefined) {
    checkOptions(limiter, options)
    this.#limiter = limiter
    this.#options = options
    this.#keyOf = options.key ?? addressOf
  }

  /** Spends from the request's bucket and says what becomes of it, at once. Never throws. */
  ask(request: C): Verdict {
    try {
      if (this.#options.skip !== undefined && atOnce('skip', this.#options.skip(request))) return freePassage
      return this.#spend(request)
    } catch (error) {
      this.report(error)
      return this.#options.onError === 'allow' ? freePassage : closed
    }
  }

  /** Tells of an error that must not break the response. Never throws. */
  report(error: unknown): void {
    try {
      if (this.#options.log !== undefined) {
        const told: unknown = this.#options.log(error)
        return void (told as Partial<PromiseLike<unknown>> | undefined)?.then?.(undefined, () => undefined)
      }
      const code = String((error as { code?: unknown } | null)?.code ?? 'error')
      if (this.#warned.has(code) || this.#warned.size >= 16) return
      this.#warned.add(code)
      process.emitWarning(`a rate limit could not be checked or refunded: ${String(error)}`, 'HotbucketWarning', code)
    } catch {
      // Whoever cannot be told cannot be told that either.
    }
  }

  #spend(request: C): Verdict {
    const { cost: costOf = 1, legacyHeaders = false } = this.#options
    const key = atOnce('key', this.#keyOf(request))
    if (typeof key !== 'string' || key === '') throw wrongType('ERR_HOTBUCKET_KEY', 'key', key, 'a string that is not empty')
    const cost: unknown = typeof costOf === 'function' ? atOnce('cost', costOf(request)) : costOf
    if (typeof cost !== 'number') throw wrongType('ERR_HOTBUCKET_COST', 'cost', cost, 'a whole number from 0')
    const limiter = this.#bound(request)
    const decision = checkedDecision(atOnce('limiter.consume', limiter.consume(key, cost)))
    const policy = this.#policyOf(decision.tier)
    const fields = fieldsOf(decision, policy, legacyHeaders)
    if (!decision.allowed) return { answer: refusalOf(decision, policy, fields), refused: decision, fields }
    return this.#options.refund === undefined ? { fields } : { fields, settle: this.#settler(limiter, key, cost) }
  }

  #bound(request: C): Limiter {
    const { tier: tierOf } = this.#options
    if (tierOf === undefined) return this.#limiter
    const name = typeof tierOf === 'function' ? atOnce('tier', tierOf(request)) : tierOf
    const bound = this.#tiers.get(name) ?? this.#limiter.tier!(name)
    this.#tiers.set(name, bound)
    return bound
  }

  #policyOf(tier: string) {
    const tiers = this.#limiter.handle?.tiers
    return tiers !== undefined && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined
  }

  #settler(limiter: Limiter, key: string, cost: number): (status: number) => void {
    let open = true
    return (status) => {
      if (!open) return
      open = false
      if ((this.#options.refund === 'success') !== status < 400) return
      try {
        const returned = limiter.refund!(key, cost) as Partial<PromiseLike<unknown>> | undefined
        returned?.then?.(undefined, (error: unknown) => this.report(error))
      } catch (error) {
        this.report(error)
      }
    }
  }
}
