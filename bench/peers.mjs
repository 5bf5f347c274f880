/**
 * Other limiters of npm, each as its own documentation has it used, one thread each: none of them shares memory.
 * Where a call answers with a promise it is awaited, since that is the price its users pay. All but `limiter`
 * count in windows; `fast-ratelimit` reads no clock at all and leaves the window's end to a timer a key.
 */
import { createRequire } from 'node:module'
import { MemoryStore as ExpressStore } from 'express-rate-limit'
import { FastRateLimit } from 'fast-ratelimit'
import { MemoryStore as HonoStore } from 'hono-rate-limiter'
import { RateLimiter as TokenLimiter } from 'limiter'
import { RateLimiterMemory } from 'rate-limiter-flexible'

const require = createRequire(import.meta.url)

/** The version that is installed; some packages do not export their package.json. */
function version(name) {
  const entry = require.resolve(name)
  const end = entry.lastIndexOf(`/node_modules/${name}/`) + `/node_modules/${name}/`.length
  return require(`${entry.slice(0, end)}package.json`).version
}

const share = () => undefined

function peer(id, more) {
  return { id, label: `${id} ${version(id)}`, windows: true, share, ...more }
}

export const peers = [
  peer('rate-limiter-flexible', {
    later: true,
    open(_, { policy }) {
      const make = () => new RateLimiterMemory({ points: policy.burst, duration: policy.periodMs / 1_000 })
      let limiter = make()
      return {
        async call(key) {
          try {
            await limiter.consume(key)
            return true
          } catch (refusal) {
            if (refusal instanceof Error) throw refusal
            return false
          }
        },
        renew: () => (limiter = make()),
      }
    },
  }),
  peer('limiter', {
    windows: false,
    open(_, { policy }) {
      let limiters = new Map()
      return {
        call(key) {
          let limiter = limiters.get(key)
          if (limiter === undefined) {
            limiter = new TokenLimiter({ tokensPerInterval: policy.burst, interval: policy.periodMs })
            limiters.set(key, limiter)
          }
          return limiter.tryRemoveTokens(1)
        },
        renew: () => (limiters = new Map()),
      }
    },
  }),
  peer('express-rate-limit', {
    later: true,
    open(_, { policy }) {
      const make = () => {
        const store = new ExpressStore()
        store.init({ windowMs: policy.periodMs })
        return store
      }
      let store = make()
      return {
        call: async (key) => (await store.increment(key)).totalHits <= policy.burst,
        renew() {
          store.shutdown()
          store = make()
        },
      }
    },
  }),
  peer('hono-rate-limiter', {
    open(_, { policy }) {
      const make = () => {
        const store = new HonoStore()
        store.init({ windowMs: policy.periodMs })
        return store
      }
      let store = make()
      return {
        call: (key) => store.increment(key).totalHits <= policy.burst,
        renew() {
          store.shutdown()
          store = make()
        },
      }
    },
  }),
  peer('fast-ratelimit', {
    open(_, { policy }) {
      const make = () => new FastRateLimit({ threshold: policy.burst, ttl: policy.periodMs / 1_000 })
      let limiter = make()
      return { call: (key) => limiter.consumeSync(key), renew: () => (limiter = make()) }
    },
  }),
]
