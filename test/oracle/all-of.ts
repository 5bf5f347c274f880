/** Several limits on one key: every part is charged, or none; the decision is that of the strictest. */
import type { Answer, Oracle } from './oracle.ts'

export function allOfOracle(parts: readonly Oracle[]): Oracle {
  const strictest = (answers: readonly Answer[]): Answer => ({
    allowed: answers.every(({ allowed }) => allowed),
    remaining: Math.min(...answers.map(({ remaining }) => remaining)),
    retryAfterMs: Math.max(...answers.map(({ retryAfterMs }) => retryAfterMs)),
    resetAfterMs: Math.max(...answers.map(({ resetAfterMs }) => resetAfterMs)),
  })
  const peek = (nowMs: number, cost: number) => strictest(parts.map((part) => part.peek(nowMs, cost)))
  return {
    peek,
    consume: (nowMs, cost) => {
      const looked = peek(nowMs, cost)
      return looked.allowed ? strictest(parts.map((part) => part.consume(nowMs, cost))) : looked
    },
  }
}
