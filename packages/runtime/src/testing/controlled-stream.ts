import { abortReason, ConnectionError, type ResponseBody } from '@tenure/kube'

export interface ControlledStreamOptions {
  /** Bytes per chunk; undefined sends all available bytes at once. */
  readonly chunkBytes: number | undefined
  readonly isHeld: boolean
  readonly signal: AbortSignal | undefined
  readonly onClose: () => void
}

type Ending = { readonly type: 'open' } | { readonly type: 'end' } | { readonly type: 'error'; readonly error: Error }

/** The body of one watch. A test can hold it back, break it, end it, or let it stall. */
export class ControlledStream implements ResponseBody {
  readonly #options: ControlledStreamOptions
  #bytes: Uint8Array[] = []
  readonly #heldLines: string[] = []
  #held: boolean
  #stalled = false
  #ending: Ending = { type: 'open' }
  #wake: (() => void) | undefined
  readonly #onAbort: () => void

  constructor(options: ControlledStreamOptions) {
    this.#options = options
    this.#held = options.isHeld
    this.#onAbort = () => {
      if (options.signal) this.#finish({ type: 'error', error: abortReason(options.signal) })
    }
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Sends an event or any other text. */
  push(line: string): void {
    if (line === '' || this.#ending.type !== 'open' || this.#stalled) return
    if (this.#held) this.#heldLines.push(line)
    else this.#send(line)
  }

  hold(): void {
    this.#held = true
  }

  /** Sends `count` of the held lines. `Infinity` sends all and stops holding. */
  release(count: number): void {
    for (const line of this.#heldLines.splice(0, count)) this.#send(line)
    if (count === Infinity) this.#held = false
  }

  /** A half-open connection: nothing more arrives, not even an error. */
  stall(): void {
    this.#stalled = true
    this.#bytes = []
  }

  /** Breaks the connection after the bytes that were sent. */
  drop(): void {
    if (this.#stalled) return
    this.#finish({
      type: 'error',
      error: new ConnectionError('TENURE_CONNECTION_LOST', 'the connection to the API server was lost'),
    })
  }

  /** Ends the response normally. */
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
