import { abortReason } from '../clock.ts'
import type { Clock, Timer } from '../clock.ts'
import type { TransportResponse } from './transport.ts'

/** Decodes the bytes of a response while they arrive. */
export interface ResponseDecoder<V> {
  /** The reason why decoding stopped. `push` has returned the values before it. */
  readonly failure: Error | undefined
  /** The values that this chunk completes, in order. The chunk's memory may be reused afterwards. */
  push(chunk: Uint8Array): readonly V[]
  /** The response has ended. Returns the last values. */
  end(): readonly V[]
}

export interface ResponseStreamOptions<V> {
  /** Called once, when the response headers have arrived. */
  readonly decoderFor: (response: TransportResponse) => ResponseDecoder<V>
  readonly clock: Clock
  /** Opens the stream. The signal aborts when the stream ends for any reason. */
  readonly open: (signal: AbortSignal) => Promise<TransportResponse>
  /** Called once, when the server has accepted the request. */
  readonly onOpen?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without a byte, while a reader waits, after which the stream fails. Default: no limit. */
  readonly idleTimeout?: number | undefined
  /** The error for an idle stream. */
  readonly idleError: (milliseconds: number) => Error
}

/**
 * A long response in batches, one per chunk of bytes. The next chunk is pulled with the next batch. This is not an async
 * generator, because `return()` must end a pending `next()`.
 */
export class ResponseStream<V> implements AsyncIterableIterator<readonly V[]> {
  readonly #options: ResponseStreamOptions<V>
  readonly #abort = new AbortController()
  readonly #onAbort: () => void
  #response: TransportResponse | undefined
  /** Undefined before the response starts. */
  #decoding: { readonly chunks: AsyncIterator<Uint8Array>; readonly decoder: ResponseDecoder<V> } | undefined
  #started = false
  #over = false
  /** The reason of a stop, until `next` has thrown it. */
  #reason: Error | undefined
  /** Ends the current wait. */
  #interrupt: (() => void) | undefined
  #idleTimer: Timer | undefined
  #waitingSince: number | undefined
  /** Serializes the calls of `next`. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ResponseStreamOptions<V>) {
    this.#options = options
    const { signal } = options
    this.#onAbort = () => this.#stop(signal && abortReason(signal))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<readonly V[]>> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorResult<readonly V[]>> {
    this.#stop(undefined)
    return { done: true, value: undefined }
  }

  async #next(): Promise<IteratorResult<readonly V[]>> {
    this.#start()
    try {
      while (!this.#over) {
        const failure = this.#decoding?.decoder.failure
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

  /** Listens to the signal from the first `next` on, so that an unread stream leaks no listener. */
  #start(): void {
    if (this.#started) return
    this.#started = true
    const { signal } = this.#options
    if (signal?.aborted) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The values of the next chunk; undefined at the end. */
  async #pull(): Promise<readonly V[] | undefined> {
    if (!this.#decoding) {
      const opening = this.#options.open(this.#abort.signal).then((response) => {
        this.#response = response
        // A late response must not block its connection.
        if (this.#over) response.body.cancel()
        return response
      })
      const response = await this.#wait(opening)
      // The stream may have been stopped while the response arrived.
      if (response === undefined || this.#over) return undefined
      this.#options.onOpen?.()
      const decoder = this.#options.decoderFor(response)
      this.#decoding = { chunks: response.body[Symbol.asyncIterator](), decoder }
    }
    const { chunks, decoder } = this.#decoding
    const chunk = await this.#wait(chunks.next())
    if (chunk === undefined) return undefined
    if (!chunk.done) return decoder.push(chunk.value)
    const events = decoder.end()
    if (decoder.failure) throw decoder.failure
    this.#stop(undefined)
    return events.length > 0 ? events : undefined
  }

  /** The result of `promise`, or undefined if the stream is stopped first. */
  async #wait<R>(promise: Promise<R>): Promise<R | undefined> {
    // A new promise for each wait: racing one long-lived promise repeatedly would leak handlers.
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

  /** One timer that is rearmed when it fires early, instead of one timer per chunk. */
  #armIdleTimer(): void {
    const { clock, idleTimeout } = this.#options
    if (idleTimeout === undefined || this.#idleTimer || this.#waitingSince === undefined) return
    const elapsed = clock.monotonic() - this.#waitingSince
    this.#idleTimer = clock.setTimer(idleTimeout - elapsed, () => {
      this.#idleTimer = undefined
      // Idle time counts only while a reader waits; the next wait arms the timer again.
      if (this.#waitingSince === undefined) return
      if (clock.monotonic() - this.#waitingSince >= idleTimeout) this.#stop(this.#options.idleError(idleTimeout))
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
    this.#abort.abort(reason ?? new Error('The stream has ended'))
    this.#interrupt?.()
  }
}
