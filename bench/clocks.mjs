/** The one ticker of a run. */
import { CoarseClock } from '../dist/clock/coarse-clock.js'

let clock

export function ticker() {
  return (clock ??= new CoarseClock())
}
