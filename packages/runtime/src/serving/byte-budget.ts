/** Bounds the bytes that a server holds in memory for requests. */
export class ByteBudget {
  readonly #max: number
  readonly #parent: ByteBudget | undefined
  #taken = 0

  /** A parent bounds the sum of its children. */
  constructor(max: number, parent?: ByteBudget) {
    this.#max = max
    this.#parent = parent
  }

  get taken(): number {
    return this.#taken
  }

  /** False, without effect, if the budget or its parent is too small. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#max || (this.#parent && !this.#parent.take(bytes))) return false
    this.#taken += bytes
    return true
  }

  give(bytes: number): void {
    this.#taken -= bytes
    this.#parent?.give(bytes)
  }
}

/** The bytes of one request, which are given back together. */
export class HeldBytes {
  readonly #budget: ByteBudget
  #held = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false
    this.#held += bytes
    return true
  }

  release(): void {
    this.#budget.give(this.#held)
    this.#held = 0
  }
}
