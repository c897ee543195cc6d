import { abortReason } from '../clock.ts'
import type { Clock, Timer } from '../clock.ts'
import type { TransportResponse } from './transport.ts'

/** What makes values out of the bytes of an answer, as they come. */
export interface ResponseDecoder<V> {
  /** Why nothing more will be decoded. What came before it was returned by `push`. */
  readonly failure: Error | undefined
  /** The values that this chunk completes, in order; perhaps none. The chunk's memory may be used again afterwards. */
  push(chunk: Uint8Array): readonly V[]
  /** The answer has ended. */
  end(): readonly V[]
}

export interface ResponseStreamOptions<V> {
  /** Called once, when the head of the answer is there. */
  readonly decoderFor: (response: TransportResponse) => ResponseDecoder<V>
  readonly clock: Clock
  /** Opens the stream. The signal aborts when the stream is over, whoever ends it. */
  readonly open: (signal: AbortSignal) => Promise<TransportResponse>
  /** Called once, when the server has accepted the request. */
  readonly onOpen?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without a byte, while somebody waits for one, after which the stream gives up. Default: never. */
  readonly idleTimeout?: number | undefined
  /** The error for that. */
  readonly quiet: (milliseconds: number) => Error
}

/**
 * One long answer, as batches: a batch is what one chunk of bytes completed. The next chunk is pulled only when the next
 * batch is asked for. Not an async generator, because `return()` must end a `next()` that is waiting on a quiet server.
 */
export class ResponseStream<V> implements AsyncIterableIterator<readonly V[]> {
  readonly #options: ResponseStreamOptions<V>
  readonly #abort = new AbortController()
  readonly #onAbort: () => void
  #response: TransportResponse | undefined
  /** Undefined before the answer begins. */
  #answer: { readonly chunks: AsyncIterator<Uint8Array>; readonly decoder: ResponseDecoder<V> } | undefined
  #started = false
  #over = false
  /** Why the stream was stopped, until somebody has been told. */
  #reason: Error | undefined
  /** Ends the wait that is under way. */
  #interrupt: (() => void) | undefined
  #idleTimer: Timer | undefined
  #waitingSince: number | undefined
  /** Calls of `next` are answered one after the other. */
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
        const failure = this.#answer?.decoder.failure
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

  /** Listens to the signal from the first `next` on, so that a stream nobody reads holds on to nothing. */
  #start(): void {
    if (this.#started) return
    this.#started = true
    const { signal } = this.#options
    if (signal?.aborted) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The events of one more chunk; undefined at the end. */
  async #pull(): Promise<readonly V[] | undefined> {
    if (!this.#answer) {
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
      const decoder = this.#options.decoderFor(response)
      this.#answer = { chunks: response.body[Symbol.asyncIterator](), decoder }
    }
    const { chunks, decoder } = this.#answer
    const chunk = await this.#wait(chunks.next())
    if (chunk === undefined) return undefined
    if (!chunk.done) return decoder.push(chunk.value)
    const events = decoder.end()
    if (decoder.failure) throw decoder.failure
    this.#stop(undefined)
    return events.length > 0 ? events : undefined
  }

  /** `promise`, unless the stream is stopped first: then undefined. */
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
      if (clock.monotonic() - this.#waitingSince >= idleTimeout) this.#stop(this.#options.quiet(idleTimeout))
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
    this.#abort.abort(reason ?? new Error('the stream is over'))
    this.#interrupt?.()
  }
}
