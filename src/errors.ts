/** The stable codes that users match on; the message may change, the code does not. */
export type HotbucketErrorCode =
  | 'ERR_HOTBUCKET_KEY'
  | 'ERR_HOTBUCKET_COST'
  | 'ERR_HOTBUCKET_POLICY'
  | 'ERR_HOTBUCKET_OPTION'
  | 'ERR_HOTBUCKET_TIER'
  | 'ERR_HOTBUCKET_HANDLE'
  | 'ERR_HOTBUCKET_CLOCK'
  | 'ERR_HOTBUCKET_CLOSED'
  | 'ERR_HOTBUCKET_REFUSED'

/** An error of hotbucket: an ordinary `RangeError`, `TypeError` or `Error` with a stable `code`. */
export type HotbucketError = Error & { readonly code: HotbucketErrorCode }

/** Puts `code` on an error, as an own property that `console.log` shows. */
export function coded<E extends Error>(error: E, code: HotbucketErrorCode): E & HotbucketError {
  return Object.assign(error, { code })
}

/** Any value as a short piece of a message; never throws, whatever the value. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `RangeError` for a number that is not what `field` takes: names the field, the value and the range. */
export function outOfRange(code: HotbucketErrorCode, field: string, value: unknown, range: string): HotbucketError {
  return coded(new RangeError(`${field} must be ${range}; got ${shown(value)}`), code)
}

/** `TypeError` for a value of the wrong kind. */
export function wrongType(code: HotbucketErrorCode, field: string, value: unknown, wanted: string): HotbucketError {
  return coded(new TypeError(`${field} must be ${wanted}; got ${shown(value)}`), code)
}

/** `TypeError` `ERR_HOTBUCKET_HANDLE`: why this handle cannot be attached. */
export function badHandle(reason: string): HotbucketError {
  return coded(new TypeError(`this handle cannot be attached: ${reason}`), 'ERR_HOTBUCKET_HANDLE')
}

/** `Error` `ERR_HOTBUCKET_CLOSED`: a verb was called after `close()`. */
export function closedError(): HotbucketError {
  return coded(new Error('this limiter is closed; attach again or build a new one'), 'ERR_HOTBUCKET_CLOSED')
}

/** What a function of the user's returned. Throws ERR_HOTBUCKET_OPTION for a promise: it may never settle, and nothing here waits. */
export function atOnce<V>(name: string, value: V): V {
  const { then } = (value ?? {}) as { then?: unknown }
  if (typeof then !== 'function') return value
  // Told of once, by this error; its rejection is not to end the process.
  then.call(value, undefined, () => {})
  throw wrongType('ERR_HOTBUCKET_OPTION', `what ${name} returns`, value, 'a value, not a promise of one')
}
