import type { Clock } from '@tenure/kube'

/** Milliseconds by which wall and monotonic clock may differ in their progress without a jump. */
const TOLERANCE_MS = 500
/** The part of the elapsed time by which they may differ in addition: a clock that is being corrected runs slower or faster. */
const MAX_SLEW = 0.001
/** Milliseconds without a jump after which the wall clock is trusted again. */
const SETTLING_MS = 60_000

const jumpsOf = new WeakMap<Clock, ClockJumps>()

/**
 * Notices when the wall clock jumps: a correction, a glitch, a machine that slept. A wall clock that has just jumped may
 * jump back, so what cannot be undone waits until it has agreed with the monotonic clock for a minute. A correction
 * delays such work by that minute and no more.
 */
export class ClockJumps {
  readonly #clock: Clock
  #wall: number
  #monotonic: number
  /** Monotonic time from which the wall clock is trusted. */
  #trustedAt = -Infinity

  private constructor(clock: Clock) {
    this.#clock = clock
    this.#wall = clock.now()
    this.#monotonic = clock.monotonic()
  }

  /** One for all users of a clock: a jump that one of them notices holds all. */
  static of(clock: Clock): ClockJumps {
    const known = jumpsOf.get(clock) ?? new ClockJumps(clock)
    jumpsOf.set(clock, known)
    return known
  }

  /** Compares both clocks. Call it often, so that a jump is dated well. */
  sample(): void {
    // A process that was paused between the two readings looks like a jump; it is not paused twice.
    if (this.#hasJumped() && this.#hasJumped()) this.#trustedAt = this.#clock.monotonic() + SETTLING_MS
    this.#wall = this.#clock.now()
    this.#monotonic = this.#clock.monotonic()
  }

  /** Milliseconds until the wall clock is trusted, if it does not jump again; zero if it is trusted. */
  heldFor(): number {
    this.sample()
    return Math.max(this.#trustedAt - this.#clock.monotonic(), 0)
  }

  #hasJumped(): boolean {
    const elapsed = this.#clock.monotonic() - this.#monotonic
    const difference = Math.abs(this.#clock.now() - this.#wall - elapsed)
    return difference > TOLERANCE_MS + elapsed * MAX_SLEW
  }
}
