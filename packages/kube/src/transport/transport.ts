/** One HTTP request to the API server. Authentication and base path are the transport's. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, from the root of the server: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** A long-lived answer: it gets a connection of its own and no total time-out. Default false. */
  readonly stream?: boolean
}

export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: ResponseBody
}

/**
 * The answer's bytes, once. Chunks are pulled: a consumer that stops pulling stops the sender, and a chunk's memory may
 * be used again once the next is asked for. Leaving the iteration early, or `cancel`, frees the connection.
 */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  text(): Promise<string>
  cancel(): void
}

/**
 * How requests reach an API server: over sockets, or in process. Rejects with a ConnectionError if there is no
 * answer; an answer, even a 500, resolves.
 */
export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>
  /** Ends every connection, streams too. */
  close(): Promise<void>
}
