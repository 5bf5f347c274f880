import { conformance } from './conformance.ts'
import { engines } from './engines.ts'
import { RateLimiter } from '../src/index.ts'

for (const sync of engines) {
  conformance(sync, (options) => new RateLimiter({ ...options, sync }))
  // A second attachment, as another thread has it, must be told from the first by nothing.
  conformance(`${sync}, attached`, (options) => {
    const first = new RateLimiter({ ...options, sync })
    return RateLimiter.attach(structuredClone(first.handle), { tierOf: options.tierOf })
  })
}
