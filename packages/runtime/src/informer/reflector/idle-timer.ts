import type { Clock, Timer } from '@tenure/kube'

/** Calls back after a period without a touch, or after a longer period in any case. Many touches share one timer. */
export class IdleTimer {
  readonly #clock: Clock
  readonly #quiet: number
  readonly #end: number
  readonly #callback: () => void
  #touched: number
  #timer: Timer

  constructor(clock: Clock, quiet: number, total: number, callback: () => void) {
    this.#clock = clock
    this.#quiet = quiet
    this.#callback = callback
    this.#touched = clock.monotonic()
    this.#end = this.#touched + total
    this.#timer = clock.setTimer(quiet, () => this.#check())
  }

  touch(): void {
    this.#touched = this.#clock.monotonic()
  }

  cancel(): void {
    this.#timer.cancel()
  }

  #check(): void {
    const now = this.#clock.monotonic()
    const left = Math.min(this.#touched + this.#quiet, this.#end) - now
    if (left > 0) this.#timer = this.#clock.setTimer(left, () => this.#check())
    else this.#callback()
  }
}
