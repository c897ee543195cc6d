/**
 * Selects the mutating webhooks for the second round: those with reinvocationPolicy `IfNeeded` whose object was changed
 * after their call. There is only one second round, and no webhook is called in it for the first time.
 */
export class Reinvocation {
  #isSecondRound = false
  #hasChanged = false
  readonly #outdated = new Set<string>()
  readonly #upToDate = new Set<string>()

  get isNeeded(): boolean {
    return this.#hasChanged
  }

  begin(): void {
    this.#isSecondRound = true
  }

  allows(webhook: string): boolean {
    return !this.#isSecondRound || this.#outdated.has(webhook)
  }

  /** Records a change: all webhooks called before it are outdated. */
  changed(): void {
    this.#hasChanged = true
    for (const webhook of this.#upToDate) this.#outdated.add(webhook)
    this.#upToDate.clear()
  }

  /** Records the call of a webhook with reinvocationPolicy `IfNeeded`. */
  invoked(webhook: string): void {
    this.#upToDate.add(webhook)
  }
}
