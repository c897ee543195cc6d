import type { Clock } from '@tenure/kube'

/** A comparison is valid for this long. */
const VALID_FOR_MS = 60_000
/** Accepted difference from the server's time, which has whole seconds and arrives late. */
const MAX_BEHIND_MS = 1_000
const MAX_AHEAD_MS = 3_000
/** Accepted drift between the wall clock and the monotonic clock; more means that the wall clock was set. */
const MAX_DRIFT_MS = 500

/**
 * Tells whether the wall clock agrees with the API server's: it did recently, and was not set since. With a clock that
 * runs behind, an old object looks new and its lease would count from its creation.
 */
export class ClockSkew {
  readonly #clock: Clock
  /** Monotonic time of the last agreement, and the offset of the wall clock from it. */
  #agreed: { readonly at: number; readonly offset: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isAccurate(): boolean {
    if (!this.#agreed) return false
    const { at, offset } = this.#agreed
    const monotonic = this.#clock.monotonic()
    return monotonic - at < VALID_FOR_MS && Math.abs(this.#clock.now() - monotonic - offset) < MAX_DRIFT_MS
  }

  /** Compares with the time of an answer that has just arrived; undefined if it had none. */
  compare(serverTime: number | undefined): void {
    const now = this.#clock.now()
    const at = this.#clock.monotonic()
    const isEqual = serverTime !== undefined && now > serverTime - MAX_BEHIND_MS && now < serverTime + MAX_AHEAD_MS
    this.#agreed = isEqual ? { at, offset: now - at } : undefined
  }
}
