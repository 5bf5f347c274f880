/** `hotbucket/piscina`: a pool whose tasks are limited before they enter the queue. */
import type { Decision } from '../index.ts'
import type { HotbucketError } from '../errors.ts'
import { atOnce, coded, wrongType } from '../errors.ts'

/** As much of a Piscina as is wrapped. */
export interface Pool {
  run(task: never, options?: object): Promise<unknown>
}

/** As much of a limiter as is asked: a `RateLimiter` or one of its tiers. */
export interface TaskLimiter {
  consume(key: string, cost?: number): Decision
}

/** How tasks are charged. */
export interface LimitedOptions<Task> {
  /** Whose budget a task spends; by default all tasks of the pool share one, that of the key `'piscina'`. */
  readonly key?: string | ((task: Task) => string)
  /** Units a task spends; 1 by default. */
  readonly cost?: number | ((task: Task) => number)
}

/** What one call of `run` may say besides the pool's own options; it goes before the functions of `LimitedOptions`. */
export interface Charge {
  readonly key?: string
  readonly cost?: number
}

/** What a refused task rejects with: code ERR_HOTBUCKET_REFUSED. */
export type RefusedError = HotbucketError & { readonly code: 'ERR_HOTBUCKET_REFUSED'; readonly decision: Decision }

type TaskOf<P extends Pool> = Parameters<P['run']>[0]
type RunOptions<P extends Pool> = NonNullable<Parameters<P['run']>[1]>

/** The pool with a limited `run`; all else is the pool's own. */
export type Limited<P extends Pool> = Omit<P, 'run'> & {
  /**
   * Runs the task, or rejects with ERR_HOTBUCKET_REFUSED and its Decision; a refused task never enters the queue.
   * A task that is aborted or fails has spent its cost.
   */
  run(task: TaskOf<P>, options?: Partial<RunOptions<P>> & Charge): ReturnType<P['run']>
}

function refused(decision: Decision): Error {
  const when = decision.retryAfterMs === Infinity ? 'it can never be allowed' : `retry after ${decision.retryAfterMs} ms`
  return Object.assign(coded(new Error(`this task exceeds the rate limit; ${when}`), 'ERR_HOTBUCKET_REFUSED'), { decision })
}

/**
 * The same pool behind a limiter. Costs are spent in the calling thread, at once; workers may share the limiter.
 * Throws `TypeError` ERR_HOTBUCKET_OPTION; `run` rejects with what the limiter or the functions throw.
 */
export function limited<P extends Pool>(pool: P, limiter: TaskLimiter, options: LimitedOptions<TaskOf<P>> = {}): Limited<P> {
  if (typeof pool?.run !== 'function') throw wrongType('ERR_HOTBUCKET_OPTION', 'pool', pool, 'a Piscina')
  if (typeof limiter?.consume !== 'function') throw wrongType('ERR_HOTBUCKET_OPTION', 'limiter', limiter, 'a RateLimiter')
  const { key: keyOf = 'piscina', cost: costOf = 1 } = options

  const run = async (task: TaskOf<P>, runOptions: RunOptions<P> & Charge = {} as RunOptions<P>): Promise<unknown> => {
    const { key, cost, ...rest } = runOptions
    const decision = limiter.consume(
      key ?? (typeof keyOf === 'function' ? atOnce('key', keyOf(task)) : keyOf),
      cost ?? (typeof costOf === 'function' ? atOnce('cost', costOf(task)) : costOf),
    )
    if (!decision.allowed) throw refused(decision)
    return pool.run(task, rest)
  }

  // Bound to the pool, since its private fields are not the proxy's.
  const own = new Map<PropertyKey, unknown>([['run', run]])
  return new Proxy(pool, {
    get(target, name) {
      if (own.has(name)) return own.get(name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' && name !== 'constructor' ? value.bind(target) : value
    },
  }) as unknown as Limited<P>
}
