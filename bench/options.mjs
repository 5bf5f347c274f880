/** What the commands of this directory take. */
import { parseArgs } from 'node:util'

export function options(args) {
  const { values } = parseArgs({
    args,
    options: { quick: { type: 'boolean', default: false }, threads: { type: 'string' }, noisy: { type: 'boolean', default: false } },
  })
  const threads = (values.threads ?? (values.quick ? '1,2' : '1,2,4,8')).split(',').map(Number)
  if (threads[0] !== 1 || threads.some((count) => !Number.isInteger(count) || count < 1 || count > 64)) {
    console.error('--threads takes numbers from 1 to 64, the first of them 1: --threads 1,2,4')
    process.exit(2)
  }
  return { quick: values.quick, noisy: values.noisy, threads }
}
