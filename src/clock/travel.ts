/** The clocks that live in shared memory, and so travel in a limiter's handle. */
import { badHandle } from '../errors.ts'
import type { Clock, SharedClockHandle } from './clock.ts'
import { SharedClock } from './clock.ts'
import type { CoarseClockHandle } from './ticks.ts'
import { Ticks } from './ticks.ts'

/** A clock as it is posted to another thread. */
export type ClockHandle = SharedClockHandle | CoarseClockHandle

const kinds: { readonly [K in ClockHandle['kind']]: new (handle: never) => Clock & { readonly handle: ClockHandle } } = {
  shared: SharedClock,
  coarse: Ticks,
}

/** What a limiter's handle says of its clock: the clock's own handle if it travels, else nothing. */
export function handleOf(clock: Clock): { readonly clock?: ClockHandle } {
  for (const Kind of Object.values(kinds)) if (clock instanceof Kind) return { clock: clock.handle }
  return {}
}

/** The clock of a handle, in this thread. Throws ERR_HOTBUCKET_HANDLE. */
export function clockFrom(handle: unknown): Clock {
  const kind = Object(handle).kind as string
  if (!Object.hasOwn(kinds, kind)) throw badHandle('its clock is not the handle of a SharedClock or a CoarseClock')
  return new kinds[kind as ClockHandle['kind']](handle as never)
}
