import { abortReason, ConnectionError, type ResponseBody } from '@tenure/kube'

type Ending = { readonly type: 'open' } | { readonly type: 'end' } | { readonly type: 'error'; readonly error: Error }

export interface ControlledBodyOptions {
  readonly isHeld: boolean
  readonly signal: AbortSignal | undefined
  readonly onClose: (body: ControlledBody) => void
}

/** The bytes of one watch, which a test can hold back, cut off, end or let hang. */
export class ControlledBody implements ResponseBody {
  readonly #source: ResponseBody
  readonly #options: ControlledBodyOptions
  readonly #heldLines: Uint8Array[] = []
  readonly #onAbort: () => void
  #chunks: Uint8Array[] = []
  #isHeld: boolean
  #isStalled = false
  #ending: Ending = { type: 'open' }
  #wake: (() => void) | undefined

  constructor(source: ResponseBody, options: ControlledBodyOptions) {
    this.#source = source
    this.#options = options
    this.#isHeld = options.isHeld
    this.#onAbort = () => {
      if (options.signal) this.#finish({ type: 'error', error: abortReason(options.signal) })
    }
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    void this.#pump()
  }

  hold(): void {
    this.#isHeld = true
  }

  /** Delivers the next `count` held lines; `Infinity` delivers all and stops holding. */
  release(count: number): void {
    this.#chunks.push(...this.#heldLines.splice(0, count))
    if (count === Infinity) this.#isHeld = false
    this.#wakeUp()
  }

  /** Imitates a half-open connection: nothing more arrives and no error is reported. */
  stall(): void {
    this.#isStalled = true
    this.#chunks = []
  }

  /** Delivers the bytes that are under way, then breaks the connection. */
  drop(): void {
    if (!this.#isStalled) this.#finish({ type: 'error', error: connectionLost() })
  }

  /** Ends the response as a server does at its timeout. */
  end(): void {
    if (!this.#isStalled) this.#finish({ type: 'end' })
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = []
    for await (const chunk of this) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  cancel(): void {
    this.#chunks = []
    this.#finish({ type: 'end' })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const chunk = this.#chunks.shift()
        if (chunk) yield chunk
        else if (this.#ending.type === 'error') throw this.#ending.error
        else if (this.#ending.type === 'end') return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.cancel()
    }
  }

  async #pump(): Promise<void> {
    try {
      for await (const chunk of this.#source) this.#receive(chunk)
      this.end()
    } catch (cause) {
      if (!this.#isStalled) this.#finish({ type: 'error', error: cause instanceof Error ? cause : connectionLost() })
    }
  }

  #receive(chunk: Uint8Array): void {
    if (this.#ending.type !== 'open' || this.#isStalled) return
    if (!this.#isHeld) this.#chunks.push(chunk)
    else {
      // The server sends whole lines.
      for (const line of Buffer.from(chunk)
        .toString()
        .split(/(?<=\n)/))
        this.#heldLines.push(Buffer.from(line))
    }
    this.#wakeUp()
  }

  #finish(ending: Ending): void {
    if (this.#ending.type !== 'open') return
    this.#ending = ending
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#source.cancel()
    this.#options.onClose(this)
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

export function connectionLost(): ConnectionError {
  return new ConnectionError('TENURE_CONNECTION_LOST', 'The connection to the test control plane broke.')
}
