/** How many requests are under way, and a way to wait until they are fewer. */
export class InFlight {
  #count = 0
  #failure: { readonly error: unknown } | undefined
  #wake: () => void = () => {}

  /** Counts `work` until it ends. A rejection is kept for the next `atMost`. */
  add(work: Promise<unknown>): void {
    this.#count++
    const ended = (): void => {
      this.#count--
      this.#wake()
    }
    work.then(ended, (error: unknown) => {
      this.#failure ??= { error }
      ended()
    })
  }

  /** Waits until at most `count` are under way. Throws what the first one to fail was rejected with. For one waiter. */
  async atMost(count: number): Promise<void> {
    while (this.#count > count) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
