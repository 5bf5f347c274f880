/** Broken twins: each a rule of the protocol taken out, and the model that must find it. */
import type { Twin } from '../explorer/core.ts'
import type { Bounded } from '../explorer/models.ts'
import { insertions, mutexes, reclaims, spends } from '../explorer/models.ts'

export interface Caught extends Twin {
  readonly by: Bounded
  /** What the explorer must say. */
  readonly says: RegExp
}

const twin =
  (file: string) =>
  (name: string, by: Bounded, says: RegExp, ...replace: readonly (readonly [from: string, to: string])[]): Caught => ({
    name,
    by,
    says,
    patches: replace.map(([from, to]) => ({ file, from, to })),
  })
const cas = twin('cas.js')
const table = twin('table.js')
const mutex = twin('mutex.js')

const PLAIN_STORE = [
  'const seen = Atomics.compareExchange(words, slot, word, wordPlus(word, state[0] - value)); if (seen === word) return DONE;',
  'Atomics.store(words, slot, wordPlus(word, state[0] - value)); if (word !== undefined) return DONE; const seen = word;',
] as const

const ORDER = /no order of the calls/
const ANY = /no order of the calls|two slots of one key/

export const twins: readonly Caught[] = [
  cas('spends by load and store', spends['two threads on one bucket'], ORDER, PLAIN_STORE),
  cas('believes a near cache without looking at the identity', reclaims['a near cache outlived by its slot'], ORDER, [
    '&& (cells[2 * slot + SLOT_IDENTITY0] ^ mask) === h0 && (cells[2 * slot + SLOT_IDENTITY1] ^ mask) === h1',
    '',
  ]),
  table('inserts without a scan', insertions['two threads meet a new key'], ANY, ['const twin = this.#twinOf(slot, place);', 'const twin = slot;']),
  table('scans before it publishes', insertions['two threads meet a new key'], ANY, [
    'const mask = word.maskOf(generation); const published',
    'const mask = word.maskOf(generation); this.#twinOf(slot, { h0, h1 }); const published',
  ], ['const twin = this.#twinOf(slot, place);', 'const twin = slot;']),
  table('publishes without a look at the state', reclaims['a publication stalled across the return of the key before'], ANY, [
    'if (Atomics.load(words, slot) !== claimed) return false;',
    '',
  ]),
  table('looks at the state before it reads the cell it publishes in', reclaims['a publication stalled across the return of the key before'], ANY, [
    'const old = Atomics.load(cells, at); if (Atomics.load(words, slot) !== claimed) return false;',
    'if (Atomics.load(words, slot) !== claimed) return false; const old = Atomics.load(cells, at);',
  ]),
  {
    name: 'leaves the first identity cell unmasked',
    by: reclaims['a publication stalled across the return of the key before'],
    says: ORDER,
    patches: [
      { file: 'table.js', from: '(Atomics.load(cells, 2 * slot + SLOT_IDENTITY0) ^ mask) === h0', to: 'Atomics.load(cells, 2 * slot + SLOT_IDENTITY0) === h0' },
      { file: 'table.js', from: '(cells[2 * slot + SLOT_IDENTITY0] ^ mask) === h0', to: 'cells[2 * slot + SLOT_IDENTITY0] === h0' },
      { file: 'table.js', from: 'SLOT_IDENTITY0, h0 ^ mask)', to: 'SLOT_IDENTITY0, h0)' },
      { file: 'cas.js', from: '(cells[2 * slot + SLOT_IDENTITY0] ^ mask) === h0', to: 'cells[2 * slot + SLOT_IDENTITY0] === h0' },
    ],
  },
  table('charges at the reading made before the search', reclaims['a spend stalled across reclaim and re-tenancy'], ORDER, [
    'terms.algorithm.reading(terms, reader.read())',
    'terms.algorithm.reading(terms, reader.ms)',
  ]),
  table('commits a word read after the scan', insertions['two threads meet a new key'], ANY, ['if (twin === slot) return slot;', 'if (twin === slot) { this.#held = Atomics.load(words, slot); return slot; }']),
  table('commits by a store', insertions['two threads meet a new key'], ANY, [
    'if (Atomics.compareExchange(words, slot, held, committed) === held) return DONE;',
    'Atomics.store(words, slot, committed); return DONE;',
  ]),
  table('claims by a store', insertions['two threads meet a new key'], ANY, [
    'if (Atomics.compareExchange(words, slot, seen, claimed) !== seen) return NONE;',
    'Atomics.store(words, slot, claimed);',
  ]),
  table('leaves the generation as it is when it claims', reclaims['a spend stalled across reclaim and re-tenancy'], ANY, [
    '(word.generationOf(word.hiOf(seen)) + 1) & 0x7f',
    'word.generationOf(word.hiOf(seen)) & 0x7f',
  ]),
  table('frees by a store', reclaims['a sweep against insertion and spend'], ANY, [
    'return Atomics.compareExchange(this.#arena.words, slot, seen, freed) === seen;',
    'Atomics.store(this.#arena.words, slot, freed); return true;',
  ]),
  table('reclaims a bucket that is not yet full', reclaims['insertion, spend and reclaim of one slot by three'], ORDER, [
    'return terms.algorithm.isFull(this.#scratch, 0, terms, now);',
    'return this.#scratch[0] <= now + terms.unitsPerToken;',
  ]),
  table('takes a claim of the same tick', reclaims['two keys for one slot within one tick'], /livelock/, [
    'return this.#scratch[0] < terms.algorithm.fresh(terms, now);',
    'return this.#scratch[0] <= terms.algorithm.fresh(terms, now);',
  ]),
  mutex('waits without a mark on the lock', mutexes['two threads at one lock'], /deadlock/, ['const marked = seen | WAITED_FOR;', 'const marked = seen;']),
  mutex('takes the lock without the mark after a wait', mutexes['three threads at one lock'], /deadlock/, [
    'seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine | WAITED_FOR);',
    'seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine);',
  ]),
  mutex('wakes nobody', mutexes['two threads at one lock'], /deadlock/, ['Atomics.notify(cells, lock, 1);', ';']),
  mutex('never breaks the lock of a dead holder', mutexes['three threads at one lock, its holder or a waiter killed'], /livelock/, [
    "if (outcome !== 'timed-out') return true;",
    'if (outcome !== undefined) return true;',
  ]),
  cas('writes unfenced under a lock that can be broken', mutexes['two threads at one lock, waits that time out at any moment'], ORDER, PLAIN_STORE),
]

/** Not a fault but a proof of the lock: where no wait times out, it alone orders plain stores. */
export const storesUnderTheLock: Twin = cas('plain stores under the lock', mutexes['three threads at one lock'], ORDER, PLAIN_STORE)
