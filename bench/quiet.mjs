/** When a run is too noisy to quote. */
import { noise } from './figures.mjs'

export class TooNoisy extends Error {}

/** Greatest over least of the floor's middle half, above which nothing is quoted. */
const STEADY = 2
/** Share of its time that the process must have had, in the median round. */
const GIVEN = 0.75

let tolerant = false

/** From now on noise is told but not refused; what is printed must say so. */
export function tolerate() {
  tolerant = true
}

function refuse(message) {
  if (!tolerant) throw new TooNoisy(message)
  process.stderr.write(`noisy: ${message}\n`)
}

/** Refuses where the floor itself wandered so far that ratios to it mean nothing. */
export function checkQuiet(what, floorNs) {
  const wander = noise(floorNs)
  if (wander > STEADY) refuse(`${what}: the floor wandered ${wander.toFixed(2)} times within the run; at most ${STEADY} is quoted`)
}

/** Refuses where other processes took too much of the cores. */
export function checkGiven(what, given) {
  if (given < GIVEN) refuse(`${what}: other processes left ${Math.round(given * 100)} % of the cores' time to this one; ${GIVEN * 100} % is the least`)
}

/** Repeats a measurement that was too noisy, twice at most. */
export async function quietly(measure, say) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measure()
    } catch (error) {
      if (!(error instanceof TooNoisy) || attempt === 3) throw error
      say(`${error.message}; measuring again`)
    }
  }
}

/** Runs a whole command: a run too noisy to quote ends it with a clear line and exit code 1. */
export async function refusable(command) {
  try {
    await command()
  } catch (error) {
    if (!(error instanceof TooNoisy)) throw error
    console.error(`\nRefused, nothing is quoted: ${error.message}. Run it on a quieter machine, or with --noisy.`)
    process.exitCode = 1
  }
}
