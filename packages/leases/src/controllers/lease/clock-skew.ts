import type { Clock } from '@tenure/kube'

/** How long an agreement holds, in milliseconds. */
const GOOD_FOR = 60_000
/** The server's time is cut to whole seconds, and old by the time it is here. */
const MOST_BEHIND = 1_000
const MOST_AHEAD = 3_000
/** What a clock that nobody sets may stray between two looks. */
const STRAY = 500

/**
 * Whether our wall clock tells the time that the API server has: they agreed lately, and ours was not set since. With a
 * clock that runs behind an old object looks new, and its lease would count from its creation.
 */
export class ClockSkew {
  readonly #clock: Clock
  /** When they agreed, on the monotonic clock, and by how much the wall clock was ahead of that. */
  #agreed: { readonly at: number; readonly offset: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isRight(): boolean {
    if (!this.#agreed) return false
    const { at, offset } = this.#agreed
    const monotonic = this.#clock.monotonic()
    return monotonic - at < GOOD_FOR && Math.abs(this.#clock.now() - monotonic - offset) < STRAY
  }

  /** The server has just said what time it is; undefined: it did not say. */
  compare(serverTime: number | undefined): void {
    const now = this.#clock.now()
    const at = this.#clock.monotonic()
    const isEqual = serverTime !== undefined && now > serverTime - MOST_BEHIND && now < serverTime + MOST_AHEAD
    this.#agreed = isEqual ? { at, offset: now - at } : undefined
  }
}
