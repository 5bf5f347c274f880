/** Policies as a person types them: `token-bucket limit=60 per=1m burst=20`. */
import type { SimplePolicy } from '../index.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../index.ts'
import { periodOf, UsageError, wholeOf } from '../log/usage.ts'

export interface NamedPolicy {
  /** As typed, its spaces evened out. */
  readonly name: string
  readonly policy: SimplePolicy
  /** The period or window. */
  readonly periodMs: number
  /** The same as typed, such as `1m`. */
  readonly per: string
}

const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log']

/** `a=1 b=2` as a map. Throws UsageError for anything else, and for a name that is not among `known`. */
export function pairsOf(flag: string, words: readonly string[], known: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const word of words) {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(word) ?? []
    if (name === undefined || !known.includes(name)) throw new UsageError(`${flag}: ${JSON.stringify(word)} is none of ${known.map((each) => `${each}=`).join(', ')}`)
    if (pairs.has(name)) throw new UsageError(`${flag}: ${name} is given twice`)
    pairs.set(name, value!)
  }
  return pairs
}

/** Reads a policy. Throws UsageError. */
export function policyOf(text: string): NamedPolicy {
  const [algorithm = '', ...words] = text.trim().split(/\s+/)
  const flag = `--policy ${JSON.stringify(text)}`
  if (!ALGORITHMS.includes(algorithm)) throw new UsageError(`${flag}: begin with one of ${ALGORITHMS.join(', ')}`)
  const isBucket = algorithm === 'token-bucket'
  const pairs = pairsOf(flag, words, ['limit', 'per', 'window', ...(isBucket ? ['burst'] : algorithm === 'fixed-window' ? ['anchored'] : [])])
  const [limitText, per] = [pairs.get('limit'), pairs.get('per') ?? pairs.get('window')]
  if (limitText === undefined || per === undefined || (pairs.has('per') && pairs.has('window'))) {
    throw new UsageError(`${flag}: give limit=N and ${isBucket ? 'per' : 'window'}=TIME, such as limit=60 ${isBucket ? 'per' : 'window'}=1m`)
  }
  const [limit, periodMs] = [wholeOf(`${flag}: limit`, limitText), periodOf(`${flag}: ${pairs.has('per') ? 'per' : 'window'}`, per)]
  return { name: [algorithm, ...words].join(' '), policy: built(flag, algorithm, limit, periodMs, pairs), periodMs, per }
}

function built(flag: string, algorithm: string, limit: number, periodMs: number, pairs: ReadonlyMap<string, string>): SimplePolicy {
  const [burst, anchored] = [pairs.get('burst'), pairs.get('anchored')]
  try {
    if (algorithm === 'token-bucket') return tokenBucket(burst === undefined ? { limit, periodMs } : { limit, periodMs, burst: wholeOf('burst', burst) })
    if (algorithm === 'fixed-window') {
      return fixedWindow(anchored === undefined ? { limit, windowMs: periodMs } : { limit, windowMs: periodMs, anchored: anchored as 'first' })
    }
    return (algorithm === 'sliding-window-log' ? slidingWindowLog : slidingWindowCounter)({ limit, windowMs: periodMs })
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`)
  }
}
