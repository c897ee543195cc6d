import { ConnectionError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'

/** Logged once for all informers that lose the same connection. */
export const CONNECTION_LOST = 'connection to the API server lost, retrying'

/** Logs the outages of informers: a lost connection once for all of them, any other failure once for each. */
export class OutageLog {
  readonly #log: Logger
  /** Informers without a connection. */
  readonly #lost = new Set<object>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** `log` carries the facts of the informer. */
  down(informer: object, error: Error, log: Logger): void {
    if (!(error instanceof ConnectionError)) return log.warn('informer is down', { error })
    // The stack of a refused connection says nothing, and its message says all.
    if (this.#lost.size === 0) this.#log.warn(CONNECTION_LOST, { reason: error.message })
    this.#lost.add(informer)
  }

  up(informer: object, log: Logger): void {
    log.info('informer is live again')
    if (this.#lost.delete(informer) && this.#lost.size === 0) this.#log.info('connection to the API server restored')
  }
}
