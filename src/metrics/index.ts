/** `hotbucket/metrics`: a limiter's counts as Prometheus reads them, through prom-client. */
import { Counter, Gauge, Registry } from 'prom-client'
import { outOfRange, wrongType } from '../errors.ts'
import type { RefusedKeys } from './sketch.ts'

export type { RefusedKey } from './sketch.ts'
export { RefusedKeys } from './sketch.ts'

/** As much of a `RateLimiter` as is read. */
export interface Counted {
  stats(): object
}

export interface MetricsOptions {
  /** The registry to write to; a new one by default. prom-client's `register` is the global one. */
  readonly registry?: Registry
  /** The value of the label `limiter`, to tell several apart in one registry; `'default'` by default. */
  readonly name?: string
  /** Where this thread's most refused keys are kept; without it none are published. Keys are what your key function returns: think before you show them. */
  readonly refused?: RefusedKeys
  /** How many of them are published; 10 by default. */
  readonly top?: number
}

export interface Metrics {
  readonly registry: Registry
  /** For the `Content-Type` of the answer. */
  readonly contentType: string
  /** All metrics of the registry as text. Rejects with ERR_HOTBUCKET_CLOSED after `close()`. */
  text(): Promise<string>
}

const gauges: ReadonlyMap<string, string> = new Map([
  ['keys', 'Slots that hold a key.'],
  ['capacity', 'Slots in all.'],
  ['bytes', 'Bytes of shared memory.'],
])

const counters: ReadonlyMap<string, string> = new Map([
  ['allowed', 'Calls allowed.'],
  ['denied', 'Calls refused.'],
  ['reclaimed', 'Full slots given to another key.'],
  ['tableFull', 'Calls of new keys that found no slot.'],
  ['casRetries', 'Compare-and-swaps that another thread was ahead of.'],
  ['lockTimeouts', 'Locks taken over from a holder that was gone.'],
  ['contended', 'Calls refused after too many lost compare-and-swaps.'],
])

interface Source {
  readonly name: string
  readonly stats: () => Readonly<Record<string, number>>
}

/** The limiters that each registry shows: their metrics are the registry's, one each, with a label for the limiter. */
const sources = new WeakMap<Registry, Map<string, Source>>()

function snake(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function addMetric(registry: Registry, shown: ReadonlyMap<string, Source>, field: string, help: string, isGauge: boolean): void {
  const name = isGauge ? `hotbucket_${snake(field)}` : `hotbucket_${snake(field)}_total`
  if (registry.getSingleMetric(name) !== undefined) return
  const values = (): [string, number][] => [...shown.values()].map(({ name: limiter, stats }) => [limiter, stats()[field] ?? 0])
  const common = { name, help, labelNames: ['limiter'] as const, registers: [registry] }
  if (isGauge) {
    new Gauge({ ...common, collect() { for (const [limiter, value] of values()) this.set({ limiter }, value) } })
  } else {
    // The arena holds the totals; a counter here is only their picture.
    new Counter({ ...common, collect() { this.reset(); for (const [limiter, value] of values()) this.inc({ limiter }, value) } })
  }
}

function addRefused(registry: Registry, name: string, refused: RefusedKeys, top: number): void {
  const gauge = 'hotbucket_refused_keys'
  if (registry.getSingleMetric(gauge) !== undefined) {
    throw outOfRange('ERR_HOTBUCKET_OPTION', 'refused', 'a second sketch', 'one for each registry: merge the sketches of several threads')
  }
  new Gauge({
    name: gauge,
    help: 'The most refused keys and at most how often, where they are kept.',
    labelNames: ['limiter', 'key'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const { key, count } of refused.top(top)) this.set({ limiter: name, key: key.toWellFormed() }, count)
    },
  })
}

/**
 * Publishes what `stats()` says: counts of all threads together, past ones too, so that one thread speaks for all.
 * Read when scraped, never by a timer. Throws ERR_HOTBUCKET_OPTION.
 */
export function metrics(limiter: Counted, options: MetricsOptions = {}): Metrics {
  const { registry = new Registry(), name = 'default', refused, top = 10 } = options
  if (typeof limiter?.stats !== 'function') throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a RateLimiter')
  if (typeof name !== 'string') throw wrongType('ERR_HOTBUCKET_OPTION', 'name', name, 'a string')
  if (!Number.isInteger(top) || top < 1 || top > 1000) throw outOfRange('ERR_HOTBUCKET_OPTION', 'top', top, 'a whole number from 1 to 1000')
  const shown = sources.get(registry) ?? new Map<string, Source>()
  if (shown.has(name)) throw outOfRange('ERR_HOTBUCKET_OPTION', 'name', name, 'another one: this registry has it already')
  sources.set(registry, shown)

  // One scrape asks for each field in one turn: the table is read once for all of them.
  let latest: Readonly<Record<string, number>> | undefined
  const stats = (): Readonly<Record<string, number>> => {
    if (latest === undefined) {
      latest = limiter.stats() as Readonly<Record<string, number>>
      queueMicrotask(() => { latest = undefined })
    }
    return latest
  }
  shown.set(name, { name, stats })
  for (const [field, help] of gauges) addMetric(registry, shown, field, help, true)
  for (const [field, help] of counters) addMetric(registry, shown, field, help, false)
  if (refused !== undefined) addRefused(registry, name, refused, top)
  return { registry, contentType: registry.contentType, text: () => registry.metrics() }
}
