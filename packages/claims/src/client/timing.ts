import type { ClientClock } from './options.ts'

/** The reason of a signal as an Error, also if `abort()` got another value. */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason ?? 'aborted'))
}

/** Resolves after `delay` milliseconds; rejects with the signal's reason if it is aborted first. */
export function pause(clock: ClientClock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal))
    const onAbort = (): void => {
      timer.cancel()
      if (signal) reject(abortError(signal))
    }
    const timer = clock.setTimer(delay, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Runs `work` with a signal that aborts with `parent`, or with `reason` after `delay` milliseconds. */
export async function limited<T>(
  clock: ClientClock,
  limit: { readonly delay: number; readonly reason: () => Error; readonly parent?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { parent } = limit
  const controller = new AbortController()
  const onParentAbort = (): void => controller.abort(parent?.reason)
  if (parent?.aborted) onParentAbort()
  parent?.addEventListener('abort', onParentAbort, { once: true })
  const timer = clock.setTimer(limit.delay, () => controller.abort(limit.reason()))
  try {
    return await work(controller.signal)
  } finally {
    timer.cancel()
    parent?.removeEventListener('abort', onParentAbort)
  }
}
