/** Keys made of parts. */
import { wrongType } from '../errors.ts'

/**
 * One key from several parts, such that different parts never make the same key: `joinKey('user', id)` and
 * `joinKey('address', address)` cannot meet, whatever the strings hold. Throws `TypeError` ERR_HOTBUCKET_KEY. Pure.
 */
export function joinKey(...parts: readonly [string, ...string[]]): string {
  return parts
    .map((part, at) => {
      if (typeof part !== 'string') throw wrongType('ERR_HOTBUCKET_KEY', `part ${at} of a key`, part, 'a string')
      return `${part.length}:${part}`
    })
    .join('')
}
