import type { WatchEvent } from './api.ts'
import { abortReason } from './clock.ts'
import type { Clock, Timer } from './clock.ts'
import { ConnectionError } from './errors.ts'
import type { Kind } from './kind.ts'
import type { KubeObject } from './object.ts'
import type { TransportResponse } from './transport.ts'
import { WatchDecoder } from './watch-decoder.ts'

export interface WatchStreamOptions<T extends KubeObject> {
  readonly kind: Kind<T>
  readonly clock: Clock
  /** Opens the stream. The signal aborts when the watch is over, whoever ends it. */
  readonly open: (signal: AbortSignal) => Promise<TransportResponse>
  /** Called once, when the server has accepted the watch. */
  readonly onOpen?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without a byte, while somebody waits for one, after which the watch gives up. Default: never. */
  readonly idleTimeout?: number | undefined
  /** Bytes. Default 64 MiB. */
  readonly maxLine?: number | undefined
}

type Batch<T extends KubeObject> = readonly WatchEvent<T>[]

/**
 * One watch, as batches: a batch is what one chunk of bytes completed. The next chunk is pulled only when the next batch
 * is asked for. Not an async generator, because `return()` must end a `next()` that is waiting on a quiet server.
 */
export class WatchStream<T extends KubeObject> implements AsyncIterableIterator<Batch<T>> {
  readonly #options: WatchStreamOptions<T>
  readonly #decoder: WatchDecoder<T>
  readonly #abort = new AbortController()
  readonly #onAbort: () => void
  #response: TransportResponse | undefined
  #chunks: AsyncIterator<Uint8Array> | undefined
  #started = false
  #over = false
  /** Why the watch was stopped, until somebody has been told. */
  #reason: Error | undefined
  /** Ends the wait that is under way. */
  #interrupt: (() => void) | undefined
  #idleTimer: Timer | undefined
  #waitingSince: number | undefined
  /** Calls of `next` are answered one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: WatchStreamOptions<T>) {
    this.#options = options
    this.#decoder = new WatchDecoder(options.kind, options.maxLine)
    const { signal } = options
    this.#onAbort = () => this.#stop(signal && abortReason(signal))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Batch<T>>> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorResult<Batch<T>>> {
    this.#stop(undefined)
    return { done: true, value: undefined }
  }

  async #next(): Promise<IteratorResult<Batch<T>>> {
    this.#start()
    try {
      while (!this.#over) {
        const failure = this.#decoder.failure
        if (failure) throw failure
        const events = await this.#pull()
        if (events === undefined) break
        if (events.length > 0) return { done: false, value: events }
      }
    } catch (error) {
      this.#stop(undefined)
      throw error
    }
    this.#stop(undefined)
    const reason = this.#reason
    this.#reason = undefined
    if (reason) throw reason
    return { done: true, value: undefined }
  }

  /** Listens to the signal from the first `next` on, so that a watch nobody reads holds on to nothing. */
  #start(): void {
    if (this.#started) return
    this.#started = true
    const { signal } = this.#options
    if (signal?.aborted) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The events of one more chunk; undefined at the end. */
  async #pull(): Promise<Batch<T> | undefined> {
    if (!this.#chunks) {
      const opening = this.#options.open(this.#abort.signal).then((response) => {
        this.#response = response
        // An answer that comes after all is not to be left lying on its connection.
        if (this.#over) response.body.cancel()
        return response
      })
      const response = await this.#wait(opening)
      // Also when it was stopped in the moment in which the answer came.
      if (response === undefined || this.#over) return undefined
      this.#options.onOpen?.()
      this.#chunks = response.body[Symbol.asyncIterator]()
    }
    const chunk = await this.#wait(this.#chunks.next())
    if (chunk === undefined) return undefined
    if (!chunk.done) return this.#decoder.push(chunk.value)
    const events = this.#decoder.end()
    const failure = this.#decoder.failure
    if (failure) throw failure
    this.#stop(undefined)
    return events.length > 0 ? events : undefined
  }

  /** `promise`, unless the watch is stopped first: then undefined. */
  async #wait<R>(promise: Promise<R>): Promise<R | undefined> {
    // A fresh one for each wait: racing one long-lived promise again and again would pile up its handlers.
    const interrupted = Promise.withResolvers<undefined>()
    this.#interrupt = () => interrupted.resolve(undefined)
    this.#waitingSince = this.#options.clock.monotonic()
    this.#armIdleTimer()
    try {
      return await Promise.race([promise, interrupted.promise])
    } finally {
      this.#interrupt = undefined
      this.#waitingSince = undefined
    }
  }

  /** One timer that is put off when it fires too early, rather than one for each chunk. */
  #armIdleTimer(): void {
    const { clock, idleTimeout } = this.#options
    if (idleTimeout === undefined || this.#idleTimer || this.#waitingSince === undefined) return
    const elapsed = clock.monotonic() - this.#waitingSince
    this.#idleTimer = clock.setTimer(idleTimeout - elapsed, () => {
      this.#idleTimer = undefined
      // A slow reader is no quiet server: the time counts only while somebody waits, and the next wait arms it again.
      if (this.#waitingSince === undefined) return
      if (clock.monotonic() - this.#waitingSince >= idleTimeout) this.#stop(quiet(idleTimeout))
      else this.#armIdleTimer()
    })
  }

  #stop(reason: Error | undefined): void {
    if (this.#over) return
    this.#over = true
    this.#reason = reason
    this.#idleTimer?.cancel()
    this.#idleTimer = undefined
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#response?.body.cancel()
    this.#abort.abort(reason ?? new Error('the watch is over'))
    this.#interrupt?.()
  }
}

function quiet(milliseconds: number): ConnectionError {
  return new ConnectionError(
    'TENURE_WATCH_QUIET',
    `The watch brought nothing at all for ${milliseconds / 1000} seconds, not even a bookmark: the connection is taken for dead.`,
  )
}
