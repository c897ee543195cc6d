import type { Clock, Timer } from '@tenure/kube'
import { HttpError } from '../errors/http-error.ts'

/** Ends the work for one request when its caller has disconnected, or when a part of it takes too long. */
export class WorkLimit {
  readonly #clock: Clock
  /** Milliseconds for each part. */
  readonly #timeout: number
  readonly #controller = new AbortController()
  readonly #ended = Promise.withResolvers<never>()

  constructor(clock: Clock, timeout: number) {
    this.#clock = clock
    this.#timeout = timeout
    // The caller may disconnect while no part runs.
    this.#ended.promise.catch(() => undefined)
  }

  end(reason: Error): void {
    this.#controller.abort(reason)
    this.#ended.reject(reason)
  }

  /** Runs one part. The time between two parts, in which the body arrives, has a limit of its own. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timer: Timer = this.#clock.setTimer(this.#timeout, () => this.end(tookTooLong()))
    try {
      return await Promise.race([work(this.#controller.signal), this.#ended.promise])
    } finally {
      timer.cancel()
    }
  }
}

function tookTooLong(): HttpError {
  return new HttpError('TENURE_HTTP_TIMEOUT', 504, 'This took too long; try again')
}
