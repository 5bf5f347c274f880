/** What a call leaves alone: other keys' memory, the event loop, the process. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { EXCLUSIVE_LINES, LINE_BYTES, SLOT_BYTES, SLOTS_OFFSET, TALLY_OFFSET } from '../src/memory/layout.ts'
import { RateLimiter, tokenBucket } from '../src/index.ts'
import { bench, engines } from './engines.ts'

/** Where two arenas differ, by what lies there. */
function touched(before: Uint8Array, after: Uint8Array, slots: number): Set<string> {
  const places = new Set<string>()
  after.forEach((byte, at) => {
    if (byte === before[at]) return
    if (at < TALLY_OFFSET) places.add(`header byte ${at}`)
    else if (at < SLOTS_OFFSET) places.add(`tally line ${Math.floor((at - TALLY_OFFSET) / LINE_BYTES)}`)
    else if (at < SLOTS_OFFSET + slots * SLOT_BYTES) places.add(`slot ${Math.floor((at - SLOTS_OFFSET) / SLOT_BYTES)}`)
    else places.add('lock')
  })
  return places
}

describe.each(engines)('%s', (sync) => {
  it('a call writes the slot of its key and the line of its thread, and nothing else (G4)', () => {
    const { limiter } = bench(sync, tokenBucket({ limit: 5, periodMs: 60_000 }), { maxKeys: 100 })
    const { capacity } = limiter.stats()
    for (let key = 0; key < 50; key++) limiter.allow(`key ${key}`)
    const slots = new Set<string>()
    for (let key = 0; key < 50; key++) {
      const before = new Uint8Array(limiter.handle.buffer).slice()
      // The last two are refused.
      for (let call = 0; call < 6; call++) limiter.allow(`key ${key}`)
      const places = [...touched(before, new Uint8Array(limiter.handle.buffer).slice(), capacity)]
      expect(places.filter((place) => !place.startsWith('slot'))).toEqual(['tally line 0'])
      const own = places.filter((place) => place.startsWith('slot'))
      expect(own).toHaveLength(1)
      slots.add(own[0]!)
    }
    expect(slots.size).toBe(50)
  })

  it('a refused call writes nothing but a counter of its own thread (G2, G4)', () => {
    const { limiter } = bench(sync, tokenBucket({ limit: 1, periodMs: 60_000 }), { maxKeys: 8 })
    limiter.allow('k')
    const before = new Uint8Array(limiter.handle.buffer).slice()
    expect(limiter.allow('k')).toBe(false)
    expect([...touched(before, new Uint8Array(limiter.handle.buffer).slice(), 8)]).toEqual(['tally line 0'])
  })

  it('threads of the first 64 tickets count in lines of their own (G4)', () => {
    const { limiter, clock } = bench(sync, tokenBucket({ limit: 1_000, periodMs: 60_000 }), { maxKeys: 8 })
    const lines = new Set<string>()
    limiter.allow('k')
    for (let ticket = 1; ticket < EXCLUSIVE_LINES; ticket++) {
      const other = RateLimiter.attach(limiter.handle, { clock })
      const before = new Uint8Array(limiter.handle.buffer).slice()
      other.allow('k')
      for (const place of touched(before, new Uint8Array(limiter.handle.buffer).slice(), 8)) if (place.startsWith('tally')) lines.add(place)
    }
    expect(lines.size).toBe(EXCLUSIVE_LINES - 1)
  })

  it('answers at once on the main thread, and leaves no timer or handle (G12)', () => {
    const { limiter } = bench(sync, tokenBucket({ limit: 1, periodMs: 60_000 }))
    const before = process.getActiveResourcesInfo().sort()
    expect([limiter.allow('k'), limiter.allow('k')]).toEqual([true, false])
    expect(limiter.retryAfterMs('k')).toBe(60_000)
    expect(process.getActiveResourcesInfo().sort()).toEqual(before)
  })

  it('a process that never closes its limiter ends by itself (G12)', () => {
    const index = new URL('../dist/index.js', import.meta.url).href
    const source = `import { RateLimiter, tokenBucket } from ${JSON.stringify(index)}
      const limiter = new RateLimiter({ policy: tokenBucket({ limit: 1, periodMs: 60_000 }), sync: '${sync}' })
      console.log(limiter.allow('k'), limiter.allow('k'), process.getActiveResourcesInfo().filter((name) => /Time|Immediate|Worker/.test(name)).length)`
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8', cwd: fileURLToPath(new URL('..', import.meta.url)) })
    expect(said).toBe('true false 0\n')
  })
})
