/** Whether an object works. */
export interface Readiness {
  readonly isReady: boolean
  /** It failed, and does not recover by itself. */
  readonly hasFailed: boolean
  /** It cannot start, but may recover: an image that cannot be pulled, a container that crashes. */
  readonly isStuck: boolean
  /** It failed through no fault of its own: an eviction, a preemption, a node that drains. */
  readonly isDisrupted: boolean
  readonly message: string
}

const NOTHING = { isReady: false, hasFailed: false, isStuck: false, isDisrupted: false }

export const ready = (message: string): Readiness => ({ ...NOTHING, isReady: true, message })
export const waiting = (message: string): Readiness => ({ ...NOTHING, message })
export const failed = (message: string): Readiness => ({ ...NOTHING, hasFailed: true, message })
export const stuck = (message: string): Readiness => ({ ...NOTHING, isStuck: true, message })
export const disrupted = (message: string): Readiness => ({
  ...NOTHING,
  hasFailed: true,
  isDisrupted: true,
  message,
})
