import type { Clock, Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { HttpError } from '../errors/http-error.ts'

/**
 * Milliseconds between two checks of an open stream. With the time for which results of the API server are cached, and
 * that which it may take to answer, a stream ends within a minute after its caller has lost the access.
 */
const CHECK_INTERVAL_MS = 30_000

export interface StreamAccessOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Rejects with a 401 or 403 if the caller no longer has access. */
  readonly check: () => Promise<void>
  /** Ends the stream. */
  readonly end: () => void
}

/**
 * Repeats the checks of a stream's request while the stream is open, and ends the stream when they refuse the caller. A
 * check that cannot be made decides nothing and is repeated. Returns a function that stops this.
 */
export function checkWhileOpen({ clock, log, check, end }: StreamAccessOptions): () => void {
  let isOpen = true
  const schedule = (): Timer => clock.setTimer(CHECK_INTERVAL_MS, () => void repeat())
  const repeat = async (): Promise<void> => {
    const refusal = await refusalOf(check)
    if (!isOpen) return
    if (!refusal) {
      timer = schedule()
      return
    }
    log.info('stream ended, caller has no access any more', { error: refusal })
    end()
  }
  let timer = schedule()
  return () => {
    isOpen = false
    timer.cancel()
  }
}

/** Why the caller is refused; undefined if it is not, or not known to be. */
async function refusalOf(check: () => Promise<void>): Promise<HttpError | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error instanceof HttpError && error.status < 500 ? error : undefined
  }
}
