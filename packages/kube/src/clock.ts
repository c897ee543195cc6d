/** A timer that can be called off. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/**
 * Time, injected. Everything that waits or dates something takes a Clock, so that a test can run an hour in a
 * millisecond and can make the wall clock jump.
 */
export interface Clock {
  /** Wall time in milliseconds since 1970. It may jump, both ways. */
  now(): number
  /** Milliseconds on a clock that only goes forward, from an arbitrary start. Durations are measured with it. */
  monotonic(): number
  /** Calls back once, `delay` milliseconds from now on the monotonic clock, never early. */
  setTimer(delay: number, callback: () => void): Timer
}

/** setTimeout takes a 32-bit delay; anything longer fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** The machine's own clock. Its timers keep the process alive, as every wait of a running operator must. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delay, callback) {
    const due = performance.now() + delay
    let handle: NodeJS.Timeout
    const arm = (): void => {
      // setTimeout may fire up to a millisecond early against performance.now, and is cut at 24.8 days.
      const left = due - performance.now()
      handle = setTimeout(left <= 0 ? callback : arm, Math.min(Math.max(Math.ceil(left), 0), LONGEST_TIMEOUT))
    }
    handle = setTimeout(delay <= 0 ? callback : onFirst, Math.min(Math.max(Math.ceil(delay), 0), LONGEST_TIMEOUT))
    function onFirst(): void {
      if (performance.now() >= due) callback()
      else arm()
    }
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after `delay` milliseconds; rejects with the signal's reason if it is aborted first. */
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal))
      return
    }
    const onAbort = (): void => {
      timer.cancel()
      if (signal) reject(abortReason(signal))
    }
    const timer = clock.setTimer(delay, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** A signal's reason as an Error, whatever was given to `abort()`. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason ?? 'aborted'))
}

/** A signal that aborts when its parent does, or when `delay` passes. Dispose of it when the work is done. */
export function withTimeout(
  clock: Clock,
  delay: number,
  reason: () => Error,
  parent?: AbortSignal,
): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController()
  const onParentAbort = (): void => controller.abort(parent?.reason)
  if (parent?.aborted) onParentAbort()
  parent?.addEventListener('abort', onParentAbort, { once: true })
  const timer = clock.setTimer(delay, () => controller.abort(reason()))
  return {
    signal: controller.signal,
    dispose() {
      timer.cancel()
      parent?.removeEventListener('abort', onParentAbort)
    },
  }
}
