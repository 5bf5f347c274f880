/** The lie that this package is there for, and the truth beside it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/index.ts'
import { bench, engines } from '../engines.ts'
import { Crew, sum } from './crew.ts'

let crew: Crew
beforeAll(async () => void (crew = await Crew.of(4)))
afterAll(() => crew[Symbol.asyncDispose]())

it('four Maps in four workers admit 20 where the limit is 5', async () => {
  expect(sum(await crew.run<number>('ownMap', { limit: 5, calls: 100 }))).toBe(20)
})

it.each(engines)('four workers on one limiter admit 5 (%s, G1)', async (sync) => {
  const { limiter } = bench(sync, fixedWindow({ limit: 5, windowMs: 3_600_000 }))
  expect(sum(await crew.run<number>('oneLimiter', { handle: limiter.handle, calls: 100 }))).toBe(5)
})

describe('limiters that are built in each thread instead of attached', () => {
  // MM-04: https://github.com/express-rate-limit/express-rate-limit/issues/83
  it('do not share: each has its own arena, and a handle is the only way to one (MM-04)', async () => {
    const builds = engines.flatMap((sync) => [1, 2].map(() => bench(sync, fixedWindow({ limit: 5, windowMs: 1_000 })).limiter))
    expect(new Set(builds.map(({ handle }) => handle.buffer)).size).toBe(4)
    const spent = builds.map((limiter) => Array.from({ length: 40 }, () => limiter.allow('k')).filter(Boolean).length)
    expect(spent).toEqual([5, 5, 5, 5])
  })
})
