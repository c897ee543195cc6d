/** The outcome of one check. */
export interface Finding {
  /** The thing that was checked, such as `webhooks`. */
  readonly check: string
  /** `note`: nothing is wrong, or it could not be checked. */
  readonly level: 'ok' | 'note' | 'problem'
  readonly message: string
  /** The remedy. Every problem has one. */
  readonly advice?: string
}

/** The findings of one check, in the order in which they are printed. */
export class Findings {
  readonly #check: string
  readonly #found: Finding[] = []

  constructor(check: string) {
    this.#check = check
  }

  get all(): readonly Finding[] {
    return this.#found
  }

  ok(message: string): void {
    this.#found.push({ check: this.#check, level: 'ok', message })
  }

  note(message: string, advice?: string): void {
    this.#found.push({ check: this.#check, level: 'note', message, ...(advice !== undefined && { advice }) })
  }

  problem(message: string, advice: string): void {
    this.#found.push({ check: this.#check, level: 'problem', message, advice })
  }
}
