/** What users pass in, and its checks. */
import { termsOf } from './arithmetic/compile.ts'
import type { Policy } from './arithmetic/policy.ts'
import type { Clock } from './clock/clock.ts'
import { systemClock } from './clock/clock.ts'
import type { ClockHandle } from './clock/travel.ts'
import { clockFrom } from './clock/travel.ts'
import { badHandle, outOfRange, wrongType } from './errors.ts'
import { MAX_KEYS, MAX_TIERS } from './memory/layout.ts'

interface SharedOptions {
  /**
   * Keys that are not full at once for which there is room, 1 to 2^26; 10,000 by default. See `whenFull` for more.
   * Memory is fixed by it: see `stats().bytes`.
   */
  readonly maxKeys?: number
  /** How threads agree: `'cas'` (the default) by compare-and-swap alone, `'mutex'` under a lock in each slot. */
  readonly sync?: 'cas' | 'mutex'
  /** What a new key gets when no slot can be had: `'deny'` (the default) or `'allow'`, uncounted. */
  readonly whenFull?: 'deny' | 'allow'
  /** Under `'mutex'`: after how many milliseconds a lock is taken over from a holder that is gone; 0 to 60,000; 50 by default. */
  readonly lockTimeoutMs?: number
  /** The clock of this thread; the system's monotonic clock by default. A `SharedClock` or `CoarseClock` travels in the handle. */
  readonly clock?: Clock
}

/** Options of a limiter with one policy, whose tier is named `'default'`. */
export interface SinglePolicyOptions extends SharedOptions {
  readonly policy: Policy
  readonly tiers?: undefined
  readonly tierOf?: undefined
}

/** Options of a limiter with tiers. */
export interface TieredOptions<T extends string> extends SharedOptions {
  /** A policy by tier name; 1 to 32 tiers. */
  readonly tiers: { readonly [K in T]: Policy }
  /** The tier of a key. Without it, and with more than one tier, only `limiter.tier(name)` can be asked. */
  readonly tierOf?: (key: string) => NoInfer<T>
  readonly policy?: undefined
}

export type RateLimiterOptions<T extends string> = TieredOptions<T> | (SinglePolicyOptions & { [K in T as never]: never })

/** What `RateLimiter.attach` takes besides the handle: functions do not cross threads, so each thread passes its own. */
export interface AttachOptions<T extends string> {
  readonly tierOf?: (key: string) => T
  readonly clock?: Clock
  /** The tiers that this thread expects; a handle whose policies differ is refused. */
  readonly tiers?: { readonly [K in T]: Policy }
}

/** A limiter as it is posted to another thread: `workerData`, or any message. Structured-cloneable. */
export interface LimiterHandle<T extends string = string> {
  readonly buffer: SharedArrayBuffer
  readonly tiers: { readonly [K in T]: Policy }
  /** Policy changes before the handle was taken: `tiers` is compared with the arena's only where none came since. */
  readonly policyVersion: number
  readonly clock?: ClockHandle
}

function choice<C extends string>(field: string, value: unknown, choices: readonly C[]): C {
  if (value === undefined) return choices[0]!
  const found = choices.find((each) => each === value)
  if (found === undefined) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', field, value, choices.map((each) => `'${each}'`).join(' or '))
  }
  return found
}

/** The number, or the default for undefined; throws ERR_HOTBUCKET_OPTION for anything but a whole number in range. */
export function wholeOption(field: string, value: unknown, least: number, most: number, byDefault: number): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', field, value, `a whole number from ${least} to ${most}`)
  }
  return value
}

/** The clock to use; throws ERR_HOTBUCKET_OPTION where it is not one. */
export function checkedClock(value: unknown, byDefault: Clock): Clock {
  if (value === undefined) return byDefault
  if (typeof (value as Clock | null)?.nowMs !== 'function') {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'clock', value, 'an object with a method nowMs()')
  }
  return value as Clock
}

/** The function or undefined; throws ERR_HOTBUCKET_OPTION for anything else. */
export function checkedTierOf<T extends string>(value: ((key: string) => T) | undefined): ((key: string) => T) | undefined {
  if (value !== undefined && typeof value !== 'function') {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'tierOf', value, 'a function from key to tier')
  }
  return value
}

function checkedTiers(options: { tiers?: unknown; policy?: unknown }): Map<string, Policy> {
  const { tiers, policy } = options
  if ((tiers === undefined) === (policy === undefined)) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'tiers', tiers, 'given, or else policy, and not both')
  }
  if (policy !== undefined) return new Map([['default', policy as Policy]])
  if (typeof tiers !== 'object' || tiers === null || Array.isArray(tiers)) {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'tiers', tiers, 'an object of policies by tier name')
  }
  const map = new Map(Object.entries(tiers as Record<string, Policy>))
  if (map.size < 1 || map.size > MAX_TIERS) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'tiers', map.size, `1 to ${MAX_TIERS} in number`)
  }
  return map
}

/** The options, each checked and with its default. Throws ERR_HOTBUCKET_OPTION or ERR_HOTBUCKET_POLICY. */
export function checkedOptions<T extends string>(options: RateLimiterOptions<T>) {
  if (typeof options !== 'object' || options === null) {
    throw wrongType('ERR_HOTBUCKET_OPTION', 'options', options, 'an object')
  }
  const tiers = checkedTiers(options)
  for (const policy of tiers.values()) termsOf(policy, 0)
  return {
    tiers,
    tierOf: checkedTierOf(options.tierOf),
    maxKeys: wholeOption('maxKeys', options.maxKeys, 1, MAX_KEYS, 10_000),
    mutex: choice('sync', options.sync, ['cas', 'mutex']) === 'mutex',
    allowWhenFull: choice('whenFull', options.whenFull, ['deny', 'allow']) === 'allow',
    lockTimeoutMs: wholeOption('lockTimeoutMs', options.lockTimeoutMs, 0, 60_000, 50),
    clock: checkedClock(options.clock, systemClock),
  }
}

/** `value`, an object; throws ERR_HOTBUCKET_OPTION for anything else. */
export function checkedObject<O extends object>(field: string, value: O): O {
  if (typeof value !== 'object' || value === null) throw wrongType('ERR_HOTBUCKET_OPTION', field, value, 'an object')
  return value
}

/** The parts of a handle, checked as far as that goes without its arena. Throws ERR_HOTBUCKET_HANDLE. */
export function checkedHandle(handle: unknown): { buffer: unknown; tiers: Record<string, Policy>; policyVersion: number; clock: Clock } {
  if (typeof handle !== 'object' || handle === null) throw badHandle('it is not the handle of a limiter')
  const { buffer, tiers, policyVersion, clock } = handle as Partial<LimiterHandle>
  if (typeof tiers !== 'object' || tiers === null) throw badHandle('it names no tiers')
  return { buffer, tiers, policyVersion: policyVersion as number, clock: clock === undefined ? systemClock : clockFrom(clock) }
}
