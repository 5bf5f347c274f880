/** Broken twins: each a rule of the protocol taken out, and the model that must find it. */
import type { Twin } from '../explorer/core.ts'
import type { Bounded } from '../explorer/models.ts'
import { allOfs, counters, insertions, logs, mutexes, policyChanges, reclaims, refunds, spends } from '../explorer/models.ts'

export interface Caught extends Twin {
  readonly by: Bounded
  /** What the explorer must say. */
  readonly says: RegExp
}

const twin = (name: string, by: Bounded, says: RegExp, ...replace: readonly (readonly [from: string, to: string])[]): Caught => ({
  name,
  by,
  says,
  patches: replace.map(([from, to]) => ({ from, to })),
})

const PLAIN_STORE = [
  'const seen = Atomics.compareExchange(words, slot, held, lastPlus(next - value)); if (isLast(seen)) {',
  'const seen = held; Atomics.store(words, slot, lastPlus(next - value)); if (next >= 0) {',
] as const

const ANNOUNCED = 'Atomics.store(this.#cells, layout.TIER_MAP + tier, ~taken[0]); this.#first(tier);'

const ORDER = /no order of the calls/
const ANY = /no order of the calls|two slots of one key/
const ANYHOW = /no order of the calls|livelock/

export const twins: readonly Caught[] = [
  twin('spends by load and store', spends['two threads on one bucket'], ORDER, PLAIN_STORE),
  twin('believes a near cache without looking at the identity', reclaims['a near cache outlived by its slot'], ORDER, [
    '&& (cells[id + SLOT_IDENTITY0] ^ mask) === place.h0 && (cells[id + SLOT_IDENTITY1] ^ mask) === place.h1',
    '',
  ]),
  twin('inserts without a scan', insertions['two threads meet a new key'], ANY, ['const twin = this.#twinOf(slot, place);', 'const twin = slot;']),
  twin('scans before it publishes', insertions['two threads meet a new key'], ANY, [
    'const mask = word.maskOf(generation); const published',
    'const mask = word.maskOf(generation); this.#twinOf(slot, { h0, h1 }); const published',
  ], ['const twin = this.#twinOf(slot, place);', 'const twin = slot;']),
  twin('publishes without a look at the state', reclaims['a publication stalled across the return of the key before'], ANY, [
    'if (Atomics.load(words, slot) !== claimed) return false;',
    '',
  ]),
  twin('looks at the state before it reads the cell it publishes in', reclaims['a publication stalled across the return of the key before'], ANY, [
    'const old = Atomics.load(cells, at); if (Atomics.load(words, slot) !== claimed) return false;',
    'if (Atomics.load(words, slot) !== claimed) return false; const old = Atomics.load(cells, at);',
  ]),
  twin('leaves the first identity cell unmasked', reclaims['a publication stalled across the return of the key before'], ORDER,
    ['(Atomics.load(cells, 2 * slot + SLOT_IDENTITY0) ^ mask) === h0', 'Atomics.load(cells, 2 * slot + SLOT_IDENTITY0) === h0'],
    ['if ((cells[2 * slot + SLOT_IDENTITY0] ^ mask) === h0', 'if (cells[2 * slot + SLOT_IDENTITY0] === h0'],
    ['SLOT_IDENTITY0, h0 ^ mask)', 'SLOT_IDENTITY0, h0)'],
    ['&& (cells[id + SLOT_IDENTITY0] ^ mask) === place.h0', '&& cells[id + SLOT_IDENTITY0] === place.h0'],
  ),
  twin('charges at the reading made before the search', reclaims['a sweep against a call whose reading is old'], ORDER, [
    'terms.reading(terms, Math.max(reader.readFresh(), claimMs))',
    'terms.reading(terms, reader.ms)',
  ]),
  twin('commits a word read after the scan', insertions['two threads meet a new key'], ANY, ['if (twin === slot) return slot;', 'if (twin === slot) { this.#held = Atomics.load(words, slot); return slot; }']),
  twin('commits by a store', insertions['two threads meet a new key'], ANY, [
    'if (Atomics.compareExchange(words, slot, held, committed) !== held) continue;',
    'Atomics.store(words, slot, committed);',
  ]),
  twin('claims by a store', insertions['two threads meet a new key'], ANY, [
    'if (!this.#slots.exchange(slot, seen, claimed)) return NONE;',
    'Atomics.store(words, slot, claimed);',
  ]),
  twin('leaves the generation as it is when it claims', reclaims['a spend stalled across reclaim and re-tenancy'], ANY, [
    '(word.generationOf(word.hiOf(seen)) + 1) & 0x7f',
    'word.generationOf(word.hiOf(seen)) & 0x7f',
  ]),
  twin('frees by a store', reclaims['a sweep against insertion and spend'], ANY, [
    'return this.exchange(slot, seen, word.wordOf(word.hiFrom(word.generationOf(hi), word.policyIndexOf(hi), FREE), word.valueOf(seen)));',
    'Atomics.store(this.#arena.words, slot, word.wordOf(word.hiFrom(word.generationOf(hi), word.policyIndexOf(hi), FREE), word.valueOf(seen))); return true;',
  ]),
  twin('reclaims a bucket that is not yet full', reclaims['insertion, spend and reclaim of one slot by three'], ORDER, [
    'terms.algorithm.isFull(word.valueOf(seen), terms, now, this.#facts);',
    'word.valueOf(seen) <= now + terms.unitsPerToken;',
  ]),
  twin('takes a claim of the same tick', reclaims['two keys for one slot within one tick'], /livelock/, [
    'return word.valueOf(seen) < Math.floor(',
    'return word.valueOf(seen) <= Math.floor(',
  ]),
  twin('writes at the head of a log without a look at the word', logs['a call on a log stalled while others go round its ring'], ORDER, [
    'if (!isLast(Atomics.load(words, slot))) return false; kept[AT_HEAD] = atHead;',
    'kept[AT_HEAD] = atHead;',
  ]),
  twin('takes a unit that is gone for one that always was', logs['a log read late, after others have moved on'], ORDER, [
    'return kindRead() >= CHARGE ? timeRead() : timeRead() - ceiling;',
    'return kindRead() >= CHARGE ? timeRead() : -Infinity;',
  ]),
  twin('frees a log that is not closed', logs['a sweep against a call on a log'], ORDER, ['!this.#ring.close(slot, seen, word.valueOf(seen), terms, this.#facts)', 'false']),
  twin('leaves the units that it gives back where they are', logs['spends against refunds on one log'], ANYHOW, [
    'for (let unit = -1; unit >= units; unit--)',
    'for (let unit = 0; unit > 0; unit--)',
  ]),
  twin('leaves a refund where the head will come to', logs['two refunds against a spend on one log'], ANYHOW, ['if (!count && kindRead() === REFUND) {', 'if (!count && kindRead() > 3) {']),
  twin('takes a unit that was charged meanwhile for the refund it met', logs['a call of two units against one that meets a refund on a log'], ORDER, [
    'this.overwrite(slot, places.placeAt(cost, size), ahead, GONE, -1);',
    'this.settle(slot, places.placeAt(cost, size), GONE, -1);',
  ]),
  twin('writes a change at the head by a store', logs['two threads on one log'], ORDER, [
    'return same(Atomics.compareExchange(this.words, this.places.atHead, atHead, change), atHead);',
    'Atomics.store(this.words, this.places.atHead, change); return true;',
  ]),
  twin('writes only the first unit of a call on a log', logs['calls of several units against a refund on one log'], ORDER, [
    'for (let unit = 1; unit < units; unit++)',
    'for (let unit = 1; unit < 0; unit++)',
  ]),
  twin('refuses on units that another call has written over', logs['a call of two units against one on a log whose window has passed'], ORDER, [
    'return same(Atomics.load(this.words, this.places.atHead), this.kept[AT_HEAD]);',
    'return true;',
  ]),
  twin('believes what it knows of a log though another thread has written at its head', logs['two threads that know their log, one killed'], ANYHOW, ['this.madeIn = 0;', '']),
  twin('takes a slot that has changed for one in use', logs['a sweep against a new key of a log'], /found no slot/, [' || Atomics.load(this.#arena.words, slot) !== seen', '']),
  twin('moves a log on before its change is written', logs['two threads on one log while its window rolls'], ORDER, [
    'if (!this.propose(kind,',
    'Atomics.compareExchange(this.words, slot, held, lastPlus(next - value)); if (!this.propose(kind,',
  ]),
  twin('leaves the change of another where it met it', logs['two threads on one log'], ANYHOW, [
    'this.carryOut(slot, held, value, terms, Atomics.load(words, place));',
    '',
  ]),
  twin('writes the same record again within one tick', logs['two refunds against a spend on one log'], ORDER, [
    'tag = many ? (tagRead() | (COSTS - 1)) + 1 : tagRead() + 1;',
    'tag = 0;',
  ]),
  twin('rolls a window and charges in two steps', counters['three threads on one counter while its window turns'], ORDER, [
    'const seen = Atomics.compareExchange(words, slot, held, lastPlus(next - value));',
    'const seen = held; Atomics.add(words, slot, lastPlus(next - value) - held);',
  ]),
  twin('gives nothing back to the first of two buckets', allOfs['two threads charge two buckets, the second lacks'], ORDER, [
    'for (let back = at - 1; back >= 0; back--)',
    'for (let back = -1; back >= 0; back--)',
  ]),
  twin('gives back what it did not charge', allOfs['two threads charge two buckets, the second lacks'], ORDER, [
    'for (let back = at - 1; back >= 0; back--)',
    'for (let back = at; back >= 0; back--)',
  ]),
  twin('gives back to the window after', allOfs['two threads charge a window and a bucket while the window turns'], ORDER, [
    'return tat > now + terms.ceiling ? REFUSED_STEP : gcra.refund(tat, terms, now, cost);',
    'return gcra.refund(tat, terms, now, cost);',
  ]),
  twin('gives back to the window after, of a counter', counters['three threads on one counter over two turns'], ORDER, [
    'if (window * terms.ceiling > now || (previous',
    'if ((previous',
  ]),
  twin('converts a bucket by a store', policyChanges['the policy is raised while a thread spends, one killed'], ORDER, [
    'if (this.#slots.exchange(slot, seen, converted))',
    'Atomics.store(words, slot, converted);',
  ]),
  twin('raises the version only before it stores the policy', { ...policyChanges['the policy is raised by a thread that is killed'], bound: 2 }, ORDER, [
    ANNOUNCED,
    'Atomics.add(this.#cells, HEADER.policyVersion, 1); Atomics.store(this.#cells, layout.TIER_MAP + tier, taken[0]);',
  ]),
  twin('leaves it to the setter to raise the version again', { ...policyChanges['the policy is raised by a thread that is killed'], bound: 2 }, ORDER, [
    ANNOUNCED,
    'Atomics.add(this.#cells, HEADER.policyVersion, 1); Atomics.store(this.#cells, layout.TIER_MAP + tier, taken[0]); Atomics.add(this.#cells, HEADER.policyVersion, 1);',
  ]),
  twin('takes a bucket that was just converted for none', policyChanges['the policy is lowered while two threads spend'], ORDER, [
    'if (place.slot < 0) return this.survey',
    'if (place.slot < 0 || this.slots.stalePolicy(place) === 0) return this.survey',
  ]),
  twin('lets a refund lower the word by a store', refunds['spends against refunds'], ORDER, [
    'const seen = Atomics.compareExchange(words, slot, held, lastPlus(next - value));',
    'const seen = next < value ? (Atomics.store(words, slot, lastPlus(next - value)), held) : Atomics.compareExchange(words, slot, held, lastPlus(next - value));',
  ]),
  twin('waits without a mark on the lock, which so has two states', mutexes['two threads at one lock'], /deadlock/, ['const marked = seen | WAITED_FOR;', 'const marked = seen;']),
  twin('takes the lock without the mark after a wait', mutexes['three threads at one lock'], /deadlock/, [
    'seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine | WAITED_FOR);',
    'seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine);',
  ]),
  twin('wakes nobody', mutexes['two threads at one lock'], /deadlock/, ['Atomics.notify(cells, lock, 1);', ';']),
  twin('never breaks the lock of a dead holder', mutexes['three threads at one lock, its holder or a waiter killed'], /livelock/, [
    "if (outcome !== 'timed-out') return true;",
    'if (outcome !== undefined) return true;',
  ]),
  twin('writes unfenced under a lock that can be broken', mutexes['two threads at one lock, waits that time out at any moment'], ORDER, PLAIN_STORE),
]

/** Not a fault but a proof of the lock: where no wait times out, it alone orders plain stores. */
export const storesUnderTheLock: Twin = twin('plain stores under the lock', mutexes['three threads at one lock'], ORDER, PLAIN_STORE)
