/** The books of a replay, by client: what was asked, and what each limiter admitted. */

/** One client's requests, and how many of them each limiter admitted. */
export interface ClientAccount {
  readonly client: string
  requests: number
  shared: number
  oracle: number
  maps: number
  /** Most requests in one period of the log's clock, periods beginning at multiples of their length. */
  mostInPeriod: number
}

export type Totals = Readonly<Record<'requests' | 'shared' | 'oracle' | 'maps', number>>

interface Window {
  index: number
  requests: number
}

export class Account {
  readonly #periodMs: number
  readonly #clients = new Map<string, ClientAccount>()
  readonly #windows = new Map<string, Window>()

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /** Enters a request of `client` at `nowMs`, and the oracle's answer to it; returns the client's account. */
  enter(client: string, nowMs: number, oracle: boolean): ClientAccount {
    let account = this.#clients.get(client)
    if (account === undefined) {
      account = { client, requests: 0, shared: 0, oracle: 0, maps: 0, mostInPeriod: 0 }
      this.#clients.set(client, account)
      this.#windows.set(client, { index: NaN, requests: 0 })
    }
    account.requests++
    account.oracle += Number(oracle)
    const window = this.#windows.get(client)!
    const index = Math.floor(nowMs / this.#periodMs)
    window.requests = window.index === index ? window.requests + 1 : 1
    window.index = index
    account.mostInPeriod = Math.max(account.mostInPeriod, window.requests)
    return account
  }

  get totals(): Totals {
    const totals = { requests: 0, shared: 0, oracle: 0, maps: 0 }
    for (const account of this.#clients.values()) {
      totals.requests += account.requests
      totals.shared += account.shared
      totals.oracle += account.oracle
      totals.maps += account.maps
    }
    return totals
  }

  /** The client that asked most in one period; of several, the one with most requests in all. */
  get busiest(): ClientAccount | undefined {
    let busiest: ClientAccount | undefined
    for (const account of this.#clients.values()) {
      const ahead = busiest === undefined ? 1 : account.mostInPeriod - busiest.mostInPeriod || account.requests - busiest.requests
      if (ahead > 0) busiest = account
    }
    return busiest
  }

  get clients(): number {
    return this.#clients.size
  }

  /** The clients of which the shared limiter did not admit exactly what the oracle admits. Totals alone could hide two faults. */
  get unequal(): ClientAccount[] {
    return [...this.#clients.values()].filter(({ shared, oracle }) => shared !== oracle)
  }
}
