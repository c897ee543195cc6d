/** A timer that can be cancelled. Cancelling twice, or after it fired, has no effect. */
export interface Timer {
  cancel(): void
}

/** Injected time: tests use a virtual clock, on which an hour takes a millisecond and the wall clock can jump. */
export interface Clock {
  /** Wall time in milliseconds since 1970. It may jump in both directions. */
  now(): number
  /** Milliseconds since an arbitrary start, on a clock that never goes back. For durations. */
  monotonic(): number
  /** Calls `callback` once, `delay` milliseconds from now on the monotonic clock, never earlier. */
  setTimer(delay: number, callback: () => void): Timer
}

/** setTimeout takes a 32-bit delay in milliseconds; a longer one fires immediately. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** The clock of this machine. Its timers keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delay, callback) {
    const due = performance.now() + delay
    let handle: NodeJS.Timeout
    const arm = (): void => {
      // setTimeout may fire up to a millisecond before performance.now reaches the due time.
      const left = due - performance.now()
      handle = setTimeout(left <= 0 ? callback : arm, Math.min(Math.max(Math.ceil(left), 0), MAX_TIMEOUT_MS))
    }
    handle = setTimeout(delay <= 0 ? callback : onFirst, Math.min(Math.max(Math.ceil(delay), 0), MAX_TIMEOUT_MS))
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

/** The reason of a signal as an Error, also if `abort()` got another value. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason ?? 'aborted'))
}

/** The result of a promise; rejects at once if the signal aborts before. */
export async function unlessAborted<R>(promise: Promise<R>, signal: AbortSignal): Promise<R> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(abortReason(signal))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A signal that aborts with its parent or after `delay` milliseconds. Dispose of it when the work is done. */
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
