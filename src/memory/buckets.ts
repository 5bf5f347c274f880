/** All buckets of one arena as one attached thread uses them: places met lately, then the hint, then the search and insertion. */
import type { Outlook, Terms } from '../arithmetic/algorithm.ts'
import { FACT, REFUSED_STEP, waitMs } from '../arithmetic/algorithm.ts'
import type { Clock } from '../clock/clock.ts'
import { Reader } from '../clock/clock.ts'
import type { Arena } from './arena.ts'
import { CasDriver } from './cas.ts'
import type { Driver } from './driver.ts'
import * as driver from './driver.ts'
import type { Hasher } from './hasher.ts'
import type { InsertionVerdict } from './insertion.ts'
import { FULL, Insertion } from './insertion.ts'
import * as layout from './layout.ts'
import { KnownPolicies } from './known-policies.ts'
import { MutexDriver } from './mutex.ts'
import type { Place } from './place.ts'
import { PlaceCache } from './place.ts'
import { Slots } from './slots.ts'
import { Survey } from './survey.ts'
import { Table } from './table.ts'
import { Tally } from './tally.ts'
import type { Verb } from './verb.ts'
import { stepOf } from './verb.ts'

// Held here: what another module exports is looked up at each use.
const { DONE, MISS, NOW, REFUSED, VALUE } = driver
const { TALLY } = layout

/** How often a call reads the clock anew because other threads were faster. */
const MOST_LOOKS = 16

/** The key has no bucket, so it is full; nothing was made for it. */
const ABSENT = 5
type BucketVerdict = InsertionVerdict | typeof ABSENT

// Here and in what it calls `private`, not #: two nanoseconds of the hot call.
export class Buckets {
  private readonly arena: Arena
  private readonly driver: Driver
  private readonly slots: Slots
  private readonly table: Table
  private readonly survey: Survey
  private readonly insertion: Insertion
  private readonly tally: Tally
  private readonly reader: Reader
  private readonly hasher: Hasher
  private readonly places = new PlaceCache()
  private readonly policies: KnownPolicies
  private place = this.places.of(0, '')
  private verdict: BucketVerdict = ABSENT

  constructor(arena: Arena, clock: Clock) {
    const ticket = arena.takeTicket()
    this.arena = arena
    this.tally = new Tally(arena, ticket)
    const cas = new CasDriver(arena, this.tally)
    this.driver = arena.mutex ? new MutexDriver(arena, cas, this.tally, ticket) : cas
    this.slots = new Slots(arena)
    this.table = new Table(arena, this.slots)
    this.survey = new Survey(arena, this.slots)
    this.insertion = new Insertion(arena, this.slots, this.survey, this.driver, this.tally)
    this.hasher = arena.hasher()
    this.reader = new Reader(clock, arena.bornMs)
    this.policies = new KnownPolicies(arena, this.reader)
  }

  /** The terms of each part of the tier's policy. */
  terms(tier: number): Terms[] {
    this.policies.refresh()
    return this.policies.parts[tier]!.map((part) => part.terms)
  }

  /** Charges every bucket of (tier, key) with `cost`, or none, making them if need be, and counts the answer. */
  spend(tier: number, key: string, cost: number): boolean {
    const ms = this.reader.read()
    const place = this.places.of(tier, key)
    let verdict: BucketVerdict = MISS
    if (place.slot >= 0 || this.locate(place, tier, key)) {
      const { terms } = place
      this.driver.registers[NOW] = terms.reading(terms, ms)
      verdict = this.driver.transact(place, terms.spend, cost)
      if (verdict === REFUSED && terms.ringSize !== 0) verdict = this.spendLate(place, cost)
    }
    if (verdict === MISS) verdict = this.policies.composite[tier]! ? this.spendAll(tier, key, cost) : this.seek(place, tier, 0, key, 'spend', cost)
    this.verdict = verdict
    if (verdict !== DONE) return this.notDone()
    this.tally.count(TALLY.allowed)
    return true
  }

  /** Gives `cost` back to every bucket of (tier, key), never beyond full. */
  refund(tier: number, key: string, cost: number): void {
    this.reader.read()
    for (let at = 0; at < this.policies.parts[tier]!.length; at++) this.apply(tier, at, key, 'refund', cost)
  }

  /** Reads the clock and looks at (tier, key), for `outlook`; makes and changes nothing. */
  look(tier: number, key: string, cost: number): void {
    this.reader.read()
    this.verdict = this.apply(tier, 0, key, 'look', cost)
  }

  /**
   * How part `at` of (tier, key) stands for a further call of `cost` after the `spend` or `look` just made; waits in
   * whole milliseconds from the clock's own reading.
   */
  outlook(tier: number, at: number, key: string, cost: number, out: Outlook): Outlook {
    const single = this.policies.parts[tier]!.length === 1
    if (this.verdict !== FULL && !(single && this.policies.parts[tier]![0]!.terms.ringSize === 0)) this.verdict = this.apply(tier, at, key, 'look', cost)
    const full = this.verdict === FULL
    const { terms } = this.policies.parts[tier]![at]!
    const { ms, rawMs } = this.reader
    const now = terms.algorithm.reading(terms, ms)
    const { registers, facts } = this.driver
    if (full || this.verdict === ABSENT) {
      registers[VALUE] = terms.algorithm.fresh(terms, now)
      facts.fill(-Infinity)
      facts[FACT.used] = 0
    }
    terms.algorithm.describe(registers[VALUE]!, terms, now, cost, out, facts)
    // What holds at the time decided on holds now, though the clock has stepped back since: no wait.
    out.retryAt = out.retryAt <= now ? 0 : waitMs(terms, rawMs, out.retryAt)
    out.resetAt = out.resetAt <= now ? 0 : waitMs(terms, rawMs, out.resetAt)
    if (full && !this.arena.allowWhenFull) {
      out.remaining = 0
      out.retryAt = out.resetAt = this.table.waitForSlot(this.place, rawMs)
    }
    return out
  }

  /** Makes `terms` the policy of `tier`; every bucket of it keeps the fraction that it had used. */
  setPolicy(tier: number, terms: readonly Terms[]): void {
    const { policies, tierCount } = this.arena
    const ms = this.reader.read()
    policies.write(tier, terms, tierCount, () => this.table.settle(ms))
    this.table.settle(ms)
  }

  /** Frees every full slot; returns how many. */
  sweep(): number {
    return this.table.sweep(this.reader.read())
  }

  /** Slots that hold a key. May be outdated on return. */
  keys(): number {
    return this.table.keys()
  }

  /** After a refusal: the reading may have been older than what other threads have given back since; then a newer one decides. */
  private spendLate(place: Place, cost: number): BucketVerdict {
    const { registers, facts } = this.driver
    const { terms } = place
    let verdict: BucketVerdict = REFUSED
    for (let look = 0; look < MOST_LOOKS && verdict === REFUSED && facts[FACT.known]! > registers[NOW]!; look++) {
      registers[NOW] = terms.reading(terms, this.reader.readFresh())
      verdict = this.driver.transact(place, terms.spend, cost)
    }
    return verdict
  }

  private notDone(): boolean {
    const full = this.verdict === FULL
    if (full) this.tally.count(TALLY.tableFull)
    const allowed = full && this.arena.allowWhenFull
    this.tally.count(allowed ? TALLY.allowed : TALLY.denied)
    return allowed
  }

  /**
   * Looks at every part first, so that a refusal charges none; then charges them in order, and where another thread
   * has taken the last of a part meanwhile, gives back what was charged before it.
   */
  private spendAll(tier: number, key: string, cost: number): BucketVerdict {
    const parts = this.policies.parts[tier]!
    const { registers, facts } = this.driver
    for (let at = 0; at < parts.length; at++) {
      const verdict = this.apply(tier, at, key, 'look', cost)
      const { terms } = this.policies.parts[tier]![at]!
      if (cost > terms.burst) return REFUSED
      if (verdict === FULL) return FULL
      if (verdict !== ABSENT && terms.algorithm.spend(registers[VALUE]!, terms, registers[NOW]!, cost, facts) === REFUSED_STEP) return REFUSED
    }
    for (let at = 0; at < parts.length; at++) {
      const verdict = this.apply(tier, at, key, 'spend', cost)
      if (verdict === DONE) continue
      for (let back = at - 1; back >= 0; back--) this.apply(tier, back, key, 'refund', cost)
      return verdict
    }
    return DONE
  }

  /** Applies `verb` to the bucket of part `at` of (tier, key), at the time that the reader read last. */
  private apply(tier: number, at: number, key: string, verb: Verb, cost: number): BucketVerdict {
    const place = this.places.of(this.policies.composite[tier]! ? tier | ((at + 1) << 8) : tier, key)
    if (place.slot >= 0) {
      const { terms } = place
      this.driver.registers[NOW] = terms.reading(terms, this.reader.ms)
      const verdict = this.driver.transact(place, stepOf(verb, terms, cost), cost)
      if (verdict !== MISS) return verdict
    }
    return this.seek(place, tier, at, key, verb, cost)
  }

  /** Looks for the slot of a key of a simple policy that was not met lately; a hint, as `find` is. */
  private locate(place: Place, tier: number, key: string): boolean {
    if (this.policies.composite[tier]!) return false
    const { index, terms } = this.policies.parts[tier]![0]!
    this.hasher.hash(tier, key, place)
    place.under(index, terms, this.policies.version)
    return this.table.find(place)
  }

  /** `apply` for a key whose slot is not known, or under a policy that this thread does not know yet. */
  private seek(place: Place, tier: number, at: number, key: string, verb: Verb, cost: number): BucketVerdict {
    const [table, driver] = [this.table, this.driver]
    this.place = place
    this.hasher.hash(tier | (at << 8), key, place)
    for (let stale = 0; ; ) {
      this.policies.refresh()
      const { index, terms } = this.policies.parts[tier]![at]!
      // Only now: the policy met may be the newer one, and no bucket goes back to an older.
      if (stale !== 0) table.convert(place.slot, stale, index, this.reader.ms, this.policies.version)
      place.under(index, terms, this.policies.version)
      const step = stepOf(verb, terms, cost)
      driver.registers[NOW] = terms.reading(terms, this.reader.ms)
      let verdict: BucketVerdict = table.find(place) ? driver.transact(place, step, cost) : MISS
      if (verdict === MISS) {
        if (step === terms.algorithm.spend) verdict = this.insertion.insert(place, step, this.reader, cost)
        else if (table.search(place)) verdict = driver.transact(place, step, cost)
      }
      if (verdict !== MISS) {
        // A policy set while the bucket was being made may have missed it.
        if (this.policies.refresh() && place.slot >= 0) table.convert(place.slot, index, this.policies.parts[tier]![at]!.index, this.reader.ms, this.policies.version)
        return verdict
      }
      if (place.slot < 0) return this.survey.hasRoom(place, this.reader.ms) ? ABSENT : FULL
      stale = this.slots.stalePolicy(place)
    }
  }
}
