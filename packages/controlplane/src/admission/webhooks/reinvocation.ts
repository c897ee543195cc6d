/**
 * Which mutating webhooks are called a second time: those that want it (`IfNeeded`) and were called before something
 * changed the object after them. There is one second round, and nobody is called in it for the first time.
 */
export class Reinvocation {
  #isSecondRound = false
  #hasChanged = false
  readonly #outdated = new Set<string>()
  readonly #upToDate = new Set<string>()

  /** True once a webhook has changed the object. */
  get isNeeded(): boolean {
    return this.#hasChanged
  }

  begin(): void {
    this.#isSecondRound = true
  }

  /** Whether a webhook may be called in this round. */
  allows(webhook: string): boolean {
    return !this.#isSecondRound || this.#outdated.has(webhook)
  }

  /** The object has changed: who has seen it before has not seen this. */
  changed(): void {
    this.#hasChanged = true
    for (const webhook of this.#upToDate) this.#outdated.add(webhook)
    this.#upToDate.clear()
  }

  /** A webhook that may be called again was called. */
  invoked(webhook: string): void {
    this.#upToDate.add(webhook)
  }
}
