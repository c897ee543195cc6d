import type { ResponseBody, Transport, TransportRequest, TransportResponse } from '../transport/transport.ts'

export interface ScriptedResponse {
  /** Default 200. */
  readonly status?: number
  readonly headers?: TransportResponse['headers']
  /** An object is sent as JSON. Default: empty. */
  readonly body?: unknown
}

export type Script = (
  request: TransportRequest,
  number: number,
) => ScriptedResponse | TransportResponse | Promise<never>

/** A Transport that gets its responses from a function and records the requests. */
export class ScriptedTransport implements Transport {
  readonly requests: TransportRequest[] = []
  readonly #script: Script

  constructor(script: Script) {
    this.#script = script
  }

  /** Returns the responses in order; an Error is thrown. The last one repeats. */
  static inOrder(...responses: readonly (ScriptedResponse | Error)[]): ScriptedTransport {
    return new ScriptedTransport((_, number) => {
      const response = responses[Math.min(number, responses.length) - 1] ?? {}
      if (response instanceof Error) throw response
      return response
    })
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request)
    const response = await this.#script(request, this.requests.length)
    if (isResponse(response)) return response
    const { status = 200, headers = {}, body = '' } = response
    return { status, headers, body: bodyOf(typeof body === 'string' ? body : JSON.stringify(body)) }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function isResponse(response: ScriptedResponse | TransportResponse): response is TransportResponse {
  const body = response.body
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function bodyOf(text: string): ResponseBody {
  return {
    text: () => Promise.resolve(text),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text)
    },
  }
}

/** A body whose chunks a test pushes. `pulls` counts the reads. */
export class FedBody implements ResponseBody {
  pulls = 0
  cancelled = false
  readonly #chunks: (Uint8Array | Error | 'end')[] = []
  #wake: (() => void) | undefined

  push(chunk: string | Uint8Array): void {
    this.#add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  }

  end(): void {
    this.#add('end')
  }

  fail(error: Error): void {
    this.#add(error)
  }

  #add(chunk: Uint8Array | Error | 'end'): void {
    this.#chunks.push(chunk)
    this.#wake?.()
  }

  /** A response with this body, for a ScriptedTransport. */
  response(status = 200): TransportResponse {
    return { status, headers: {}, body: this }
  }

  text(): Promise<string> {
    return Promise.reject(new Error('A streamed body has no text'))
  }

  cancel(): void {
    this.cancelled = true
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() }
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    this.pulls++
    while (this.#chunks.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const chunk = this.#chunks.shift()
    if (chunk instanceof Error) throw chunk
    return chunk === undefined || chunk === 'end' ? { done: true, value: undefined } : { done: false, value: chunk }
  }
}
