/** What the compiler must know and refuse; checked by `tsc -p test`, which `npm test` runs. Nothing here is executed. */
import { expectTypeOf } from 'vitest'
import type { Decision, LimiterHandle, Policy } from '../src/index.ts'
import { fixedWindow, RateLimiter, SharedClock, tokenBucket } from '../src/index.ts'

const free = tokenBucket({ limit: 10, periodMs: 60_000 })
const otp = fixedWindow({ limit: 5, windowMs: 3_600_000 })

// Tier names are inferred from the tiers, as literals.
const limiter = new RateLimiter({ tiers: { free, otp }, tierOf: (key) => (key === 'otp' ? 'otp' : 'free') })
expectTypeOf(limiter).toEqualTypeOf<RateLimiter<'free' | 'otp'>>()
expectTypeOf(limiter.consume('k')).toEqualTypeOf<Decision<'free' | 'otp'>>()
expectTypeOf(limiter.tier('otp').consume('k')).toEqualTypeOf<Decision<'otp'>>()
expectTypeOf(limiter.peek('k').tier).toEqualTypeOf<'free' | 'otp'>()
expectTypeOf(limiter.allow('k', 2)).toEqualTypeOf<boolean>()
expectTypeOf(limiter.retryAfterMs('k')).toEqualTypeOf<number>()

// A wrong tier is a compile error, in tier() and in tierOf.
// @ts-expect-error no such tier
limiter.tier('gold')
// @ts-expect-error no such tier
new RateLimiter({ tiers: { free, otp }, tierOf: () => 'gold' })
// @ts-expect-error plans come from a map, and a plain string is no tier
new RateLimiter({ tiers: { free, otp }, tierOf: (key: string) => new Map<string, string>().get(key) ?? 'free' })

// One policy is one tier named default.
const single = new RateLimiter({ policy: free })
expectTypeOf(single).toEqualTypeOf<RateLimiter<'default'>>()
expectTypeOf(single.consume('k').tier).toEqualTypeOf<'default'>()
// @ts-expect-error a policy or tiers, not both
new RateLimiter({ policy: free, tiers: { free } })
// @ts-expect-error neither
new RateLimiter({ maxKeys: 10 })

// Attaching keeps the names.
expectTypeOf(limiter.handle).toEqualTypeOf<LimiterHandle<'free' | 'otp'>>()
const attached = RateLimiter.attach(limiter.handle, { tierOf: () => 'otp' })
expectTypeOf(attached).toEqualTypeOf<RateLimiter<'free' | 'otp'>>()
// @ts-expect-error no such tier
RateLimiter.attach(limiter.handle, { tierOf: () => 'gold' })
// @ts-expect-error no such tier
attached.tier('gold')
// A handle out of a message of unknown type is given its names.
const posted: unknown = limiter.handle
expectTypeOf(RateLimiter.attach(posted as LimiterHandle<'free'>).consume('k').tier).toEqualTypeOf<'free'>()

// Options take their own values only.
// @ts-expect-error no such engine
new RateLimiter({ policy: free, sync: 'atomic' })
// @ts-expect-error no such choice
new RateLimiter({ policy: free, whenFull: 'drop' })
// @ts-expect-error a clock tells milliseconds
new RateLimiter({ policy: free, clock: { now: () => 0 } })
new RateLimiter({ policy: free, clock: new SharedClock(), maxKeys: 10, sync: 'mutex', whenFull: 'allow', lockTimeoutMs: 5 })

// Policies are told apart by their algorithm, and cannot be changed.
expectTypeOf(free.algorithm).toEqualTypeOf<'token-bucket'>()
expectTypeOf(free).toExtend<Policy>()
// @ts-expect-error read-only
free.limit = 5
// @ts-expect-error the period has a name of its own here
fixedWindow({ limit: 5, periodMs: 1_000 })

// Costs and keys have their types.
// @ts-expect-error a key is a string
limiter.allow(5)
// @ts-expect-error a cost is a number
limiter.allow('k', '5')

// A limiter is disposable.
expectTypeOf(limiter).toExtend<Disposable>()
