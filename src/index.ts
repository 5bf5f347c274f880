export type { Decision, Stats, TierLimiter } from './answers.ts'
export { allOf, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from './arithmetic/constructors.ts'
export type {
  AllOfPolicy,
  FixedWindowPolicy,
  Policy,
  SimplePolicy,
  SlidingWindowCounterPolicy,
  SlidingWindowLogPolicy,
  TokenBucketPolicy,
} from './arithmetic/policy.ts'
export type { Clock, SharedClockHandle } from './clock/clock.ts'
export { SharedClock } from './clock/clock.ts'
export type { ClockHandle } from './clock/travel.ts'
export type { HotbucketError, HotbucketErrorCode } from './errors.ts'
export { RateLimiter } from './limiter.ts'
export type { AttachOptions, LimiterHandle, RateLimiterOptions, SinglePolicyOptions, TieredOptions } from './options.ts'
