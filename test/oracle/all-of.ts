/** Several limits on one key: asks each part, then charges all or none. */
import type { AllOfPolicy, Policy } from '../../src/index.ts'
import type { Answer, Oracle } from './oracle.ts'

export function allOfOracle(parts: readonly Oracle[]): Oracle {
  const combined = (answers: readonly Answer[]): Answer => {
    const allowed = answers.every((answer) => answer.allowed)
    const retryAfterMs = Math.max(...answers.map((answer) => answer.retryAfterMs))
    const all = {
      allowed,
      remaining: Math.min(...answers.map((answer) => answer.remaining)),
      retryAfterMs,
      resetAfterMs: Math.max(...answers.map((answer) => answer.resetAfterMs)),
    }
    // A part that has to wait is one that refused; the one with the longest wait is named, the first of several.
    if (allowed || parts.length === 1) return all
    return { ...all, refusedBy: answers.findIndex((answer) => answer.retryAfterMs === retryAfterMs) }
  }

  const peek = (nowMs: number, cost: number): Answer[] => parts.map((part) => part.peek(nowMs, cost))

  return {
    peek: (nowMs, cost) => combined(peek(nowMs, cost)),
    consume(nowMs, cost) {
      const seen = peek(nowMs, cost)
      return combined(seen.every(({ allowed }) => allowed) ? parts.map((part) => part.consume(nowMs, cost)) : seen)
    },
    refund: (nowMs, cost) => parts.forEach((part) => part.refund(nowMs, cost)),
    reset: (nowMs) => parts.forEach((part) => part.reset(nowMs)),
    setPolicy(nowMs, policy: Policy) {
      const next = parts.length === 1 && policy.algorithm !== 'all-of' ? [policy] : (policy as AllOfPolicy).parts
      parts.forEach((part, at) => part.setPolicy(nowMs, next[at]!))
    },
  }
}
