/**
 * The one lock: a three-state futex lock in each slot (after Drepper, "Futexes are tricky", 2011), and the driver
 * that takes it around the loop of `cas.ts`.
 *
 *   0 free;  ticket + 1, shifted left, held;  the same with bit 0 set, held and waited for
 *
 * The lock orders the threads, it does not protect the state: every write under it is the compareExchange of
 * the loop, so it is fenced. That is why a lock whose holder does not let go within `lockTimeoutMs` may be taken
 * over (G8): a holder that was killed left either its whole change or none, and one that was only slow finds, when
 * it wakes, that its compareExchange fails. A thread that may not block goes on without the lock, for the same
 * reason.
 */
import type { Facts, Step } from '../arithmetic/algorithm.ts'
import type { Arena } from './arena.ts'
import type { CasDriver } from './cas.ts'
import type { Driver, Verdict } from './driver.ts'
import { STRIDE, TALLY } from './layout.ts'
import type { Place } from './place.ts'
import type { Tally } from './tally.ts'

const UNLOCKED = 0
const WAITED_FOR = 1

export class MutexDriver implements Driver {
  readonly registers: Float64Array
  readonly facts: Facts
  readonly #inner: CasDriver
  readonly #cells: Int32Array
  readonly #tally: Tally
  readonly #firstSlot: number
  readonly #firstLock: number
  readonly #mine: number
  readonly #timeoutMs: number

  constructor(arena: Arena, inner: CasDriver, tally: Tally, ticket: number) {
    this.registers = inner.registers
    this.facts = inner.facts
    this.#inner = inner
    this.#cells = arena.cells
    this.#tally = tally
    this.#firstSlot = arena.firstSlot
    this.#firstLock = arena.firstLock
    this.#mine = (ticket + 1) << 1
    this.#timeoutMs = arena.lockTimeoutMs
  }

  transact(place: Place, step: Step, cost: number): Verdict {
    const lock = this.#firstLock + (place.slot - this.#firstSlot) / STRIDE
    this.#acquire(lock)
    try {
      return this.#inner.transact(place, step, cost)
    } finally {
      this.#release(lock)
    }
  }

  #acquire(lock: number): void {
    const cells = this.#cells
    let seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine)
    while (seen !== UNLOCKED) {
      // Mark it before waiting: a holder that lets go between the mark and the wait changes the word, and the
      // wait returns at once because the word is not the one passed to it.
      const marked = seen | WAITED_FOR
      if (seen !== marked && Atomics.compareExchange(cells, lock, seen, marked) !== seen) {
        seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine)
        continue
      }
      if (!this.#waitFor(lock, marked)) return
      // Others may still wait, so take it with the mark on. After a time-out the same holder's word is replaced.
      seen = Atomics.compareExchange(cells, lock, UNLOCKED, this.#mine | WAITED_FOR)
    }
  }

  /** False when the caller is to go on at once: it has taken the lock over, or it may not block. */
  #waitFor(lock: number, marked: number): boolean {
    const cells = this.#cells
    let outcome
    try {
      outcome = Atomics.wait(cells, lock, marked, this.#timeoutMs)
    } catch {
      return false
    }
    if (outcome !== 'timed-out') return true
    if (Atomics.compareExchange(cells, lock, marked, this.#mine | WAITED_FOR) !== marked) return true
    this.#tally.count(TALLY.lockTimeouts)
    return false
  }

  /** Lets go of the lock if it is still this thread's, and wakes one that waits. */
  #release(lock: number): void {
    const cells = this.#cells
    if (Atomics.compareExchange(cells, lock, this.#mine, UNLOCKED) === this.#mine) return
    const marked = this.#mine | WAITED_FOR
    if (Atomics.compareExchange(cells, lock, marked, UNLOCKED) === marked) Atomics.notify(cells, lock, 1)
  }
}
