/** What every engine must do, as a function of a factory: run over each of them, and every later one. */
import { describe, expect, it } from 'vitest'
import type { Policy } from '../src/index.ts'
import { fixedWindow, SharedClock, tokenBucket } from '../src/index.ts'
import { admitted } from './engines.ts'
import type { TierLimiter } from '../src/index.ts'

/** A limiter as the suite uses it. */
export interface Subject extends TierLimiter {
  tier(name: string): TierLimiter
}

export interface SubjectOptions {
  readonly tiers: Record<string, Policy>
  readonly tierOf: (key: string) => string
  readonly clock: SharedClock
}

export function conformance(name: string, make: (options: SubjectOptions) => Subject): void {
  const one = (policy: Policy) => {
    const clock = new SharedClock()
    return { clock, limiter: make({ tiers: { default: policy }, tierOf: () => 'default', clock }) }
  }

  describe(`${name}: token bucket of burst 5 at 1 a second`, () => {
    const policy = tokenBucket({ limit: 1, periodMs: 1_000, burst: 5 })

    it('passes five at 0, refuses the sixth at 100 ms and reports 900 ms, passes one at 1,000 ms (G1, G2, G10)', () => {
      const { clock, limiter } = one(policy)
      expect(admitted(limiter, 'k', 5)).toBe(5)
      clock.set(100)
      expect(limiter.consume('k')).toEqual({ allowed: false, tier: 'default', limit: 1, remaining: 0, retryAfterMs: 900, resetAfterMs: 4_900 })
      clock.set(1_000)
      expect(admitted(limiter, 'k', 2)).toBe(1)
    })

    it('with exactly one token at 400 ms passes at 430 and refuses at 450 with 950 ms: 0.05 of a token is no request (G2, G11)', () => {
      const { clock, limiter } = one(policy)
      expect(admitted(limiter, 'k', 5)).toBe(5)
      // A second later there is one token; the timeline of the claim starts 600 ms before that.
      clock.set(1_000)
      const shift = 600
      expect(limiter.peek('k').remaining).toBe(1)
      clock.set(430 + shift)
      expect(limiter.allow('k')).toBe(true)
      clock.set(450 + shift)
      const decision = limiter.consume('k')
      expect([decision.allowed, decision.remaining, decision.retryAfterMs]).toEqual([false, 0, 950])
    })

    it('reports the wait of the next call when it allows one, and the time until full (G10)', () => {
      const { limiter } = one(policy)
      expect(limiter.consume('k', 4)).toEqual({ allowed: true, tier: 'default', limit: 1, remaining: 1, retryAfterMs: 3_000, resetAfterMs: 4_000 })
      expect(limiter.consume('k')).toEqual({ allowed: true, tier: 'default', limit: 1, remaining: 0, retryAfterMs: 1_000, resetAfterMs: 5_000 })
    })

    it('peeks without spending and without making a bucket', () => {
      const { limiter } = one(policy)
      for (let look = 0; look < 10; look++) {
        expect(limiter.peek('k', 5)).toEqual({ allowed: true, tier: 'default', limit: 1, remaining: 5, retryAfterMs: 0, resetAfterMs: 0 })
      }
      expect(admitted(limiter, 'k', 10)).toBe(5)
      expect(limiter.retryAfterMs('k', 2)).toBe(2_000)
    })

    it('says never for a cost above the burst, and spends nothing on it', () => {
      const { limiter } = one(policy)
      expect(limiter.consume('k', 6)).toMatchObject({ allowed: false, remaining: 5, retryAfterMs: Infinity })
      expect(admitted(limiter, 'k', 10)).toBe(5)
    })

    it('keeps keys apart', () => {
      const { limiter } = one(policy)
      expect(admitted(limiter, 'a', 10)).toBe(5)
      expect(admitted(limiter, 'b', 10)).toBe(5)
      expect(admitted(limiter, 'a', 10)).toBe(0)
    })
  })

  describe(`${name}: other walks`, () => {
    it('polled each millisecond, 10 a minute still yields 10 in each minute (G2)', () => {
      const { clock, limiter } = one(tokenBucket({ limit: 10, periodMs: 60_000 }))
      expect(admitted(limiter, 'k', 20)).toBe(10)
      for (let minute = 0; minute < 3; minute++) {
        let passed = 0
        for (let ms = 0; ms < 60_000; ms++) {
          clock.advance(1)
          if (limiter.allow('k')) passed++
        }
        expect(passed).toBe(10)
      }
    })

    it('once a day is once a day, to the millisecond (G11)', () => {
      const { clock, limiter } = one(tokenBucket({ limit: 1, periodMs: 86_400_000 }))
      for (let day = 0; day < 30; day++) {
        expect(limiter.allow('k')).toBe(true)
        clock.advance(86_399_999)
        expect(limiter.consume('k')).toMatchObject({ allowed: false, retryAfterMs: 1 })
        clock.advance(1)
      }
    })

    it('a million a second is a thousand a millisecond (G11)', () => {
      const { clock, limiter } = one(tokenBucket({ limit: 1_000_000, periodMs: 1_000, burst: 1_000 }))
      expect(limiter.allow('k', 1_000)).toBe(true)
      for (let ms = 0; ms < 1_000; ms++) {
        clock.advance(1)
        expect(limiter.allow('k', 1_000)).toBe(true)
        expect(limiter.allow('k')).toBe(false)
      }
    })

    it('a fixed window of 5 a second passes five at 900 ms and five more at 1,000 ms: the edge, by design', () => {
      const { clock, limiter } = one(fixedWindow({ limit: 5, windowMs: 1_000 }))
      clock.set(900)
      expect(admitted(limiter, 'k', 8)).toBe(5)
      expect(limiter.consume('k')).toEqual({ allowed: false, tier: 'default', limit: 5, remaining: 0, retryAfterMs: 100, resetAfterMs: 100 })
      clock.set(1_000)
      expect(admitted(limiter, 'k', 8)).toBe(5)
    })

    it('limit 0 denies always, and says never (G13)', () => {
      for (const policy of [tokenBucket({ limit: 0, periodMs: 1_000 }), fixedWindow({ limit: 0, windowMs: 1_000 })]) {
        const { clock, limiter } = one(policy)
        for (const ms of [0, 1, 1_000, 86_400_000]) {
          clock.set(ms)
          expect(limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: Infinity, resetAfterMs: 0 })
        }
      }
    })
  })

  describe(`${name}: tiers`, () => {
    const tiers = { free: tokenBucket({ limit: 10, periodMs: 60_000 }), pro: tokenBucket({ limit: 1_000, periodMs: 60_000 }) }

    it('gives a new key the whole burst of its tier at once: free 10, pro 1,000', () => {
      const limiter = make({ tiers, tierOf: (key) => (key.startsWith('pro') ? 'pro' : 'free'), clock: new SharedClock() })
      expect(admitted(limiter, 'someone', 2_000)).toBe(10)
      expect(admitted(limiter, 'pro someone', 2_000)).toBe(1_000)
      expect(limiter.consume('pro other')).toMatchObject({ tier: 'pro', limit: 1_000, remaining: 999 })
    })

    it('a key that flips between tiers meets the other bucket and refills neither', () => {
      let plan = 'free'
      const limiter = make({ tiers, tierOf: () => plan, clock: new SharedClock() })
      let [free, pro] = [0, 0]
      for (let flip = 0; flip < 3_000; flip++) {
        plan = flip % 2 === 0 ? 'free' : 'pro'
        if (!limiter.allow('k')) continue
        if (plan === 'free') free++
        else pro++
      }
      expect([free, pro]).toEqual([10, 1_000])
    })

    it('tier(name) reaches the same buckets as tierOf, and does not ask it', () => {
      let asked = 0
      const limiter = make({ tiers, tierOf: () => (asked++, 'free'), clock: new SharedClock() })
      const free = limiter.tier('free')
      expect(admitted(free, 'k', 4)).toBe(4)
      expect(free.consume('k')).toMatchObject({ allowed: true, tier: 'free', remaining: 5 })
      expect(free.peek('k').remaining).toBe(5)
      expect(free.retryAfterMs('k', 6)).toBe(6_000)
      expect(asked).toBe(0)
      expect(admitted(limiter, 'k', 20)).toBe(5)
      expect(asked).toBe(20)
    })
  })
}
