import { ApiError, ConnectionError, isNotFound } from '@tenure/kube'

/** Whether a write may have been carried out although it failed: its response was lost, or the server did not know itself. */
export function isUncertain(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500)
}

/** Undefined if the object does not exist. */
export async function orUndefined<R>(request: Promise<R>): Promise<R | undefined> {
  try {
    return await request
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
