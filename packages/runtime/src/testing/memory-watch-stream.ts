import { abortReason, ConnectionError, type ResponseBody } from '@tenure/kube'

export interface WatchStreamOptions {
  /** Bytes per chunk; undefined sends whatever is there at once. */
  readonly chunkBytes: number | undefined
  readonly held: boolean
  readonly signal: AbortSignal | undefined
  readonly onClose: () => void
}

type Ending = { readonly type: 'open' } | { readonly type: 'end' } | { readonly type: 'error'; readonly error: Error }

/** The bytes of one watch. A test can hold them back, cut them off, end them, or let them hang. */
export class WatchStream implements ResponseBody {
  readonly #options: WatchStreamOptions
  #bytes: Uint8Array[] = []
  readonly #heldLines: string[] = []
  #held: boolean
  #stalled = false
  #ending: Ending = { type: 'open' }
  #wake: (() => void) | undefined
  readonly #onAbort: () => void

  constructor(options: WatchStreamOptions) {
    this.#options = options
    this.#held = options.held
    this.#onAbort = () => {
      if (options.signal) this.#finish({ type: 'error', error: abortReason(options.signal) })
    }
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Sends one event, or any other text. */
  push(line: string): void {
    if (line === '' || this.#ending.type !== 'open' || this.#stalled) return
    if (this.#held) this.#heldLines.push(line)
    else this.#send(line)
  }

  hold(): void {
    this.#held = true
  }

  /** Sends `count` of the lines held back; with all of them sent by `Infinity`, it flows again. */
  release(count: number): void {
    for (const line of this.#heldLines.splice(0, count)) this.#send(line)
    if (count === Infinity) this.#held = false
  }

  /** A half-open connection: nothing more arrives, and nobody says so. */
  stall(): void {
    this.#stalled = true
    this.#bytes = []
  }

  /** What is on its way arrives, then the connection breaks. */
  drop(): void {
    if (this.#stalled) return
    this.#finish({
      type: 'error',
      error: new ConnectionError('TENURE_CONNECTION_LOST', 'the connection to the API server was lost'),
    })
  }

  /** The server closes the answer as it should. */
  end(): void {
    if (!this.#stalled) this.#finish({ type: 'end' })
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of this) text += decoder.decode(chunk, { stream: true })
    return text
  }

  cancel(): void {
    this.#bytes = []
    this.#finish({ type: 'end' })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const chunk = this.#bytes.shift()
        if (chunk) yield chunk
        else if (this.#ending.type === 'error') throw this.#ending.error
        else if (this.#ending.type === 'end') return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.cancel()
    }
  }

  #send(line: string): void {
    const bytes = new TextEncoder().encode(line)
    const size = this.#options.chunkBytes ?? bytes.length
    for (let at = 0; at < bytes.length; at += size) this.#bytes.push(bytes.subarray(at, at + size))
    this.#wakeUp()
  }

  #finish(ending: Ending): void {
    if (this.#ending.type !== 'open') return
    this.#ending = ending
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#options.onClose()
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
