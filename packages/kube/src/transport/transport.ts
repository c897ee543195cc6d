/** One HTTP request to the API server. The transport adds authentication and the base path. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, from the root of the server: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** A long-lived response: it gets its own connection and no total time-out. Default false. */
  readonly stream?: boolean
}

export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: ResponseBody
}

/**
 * The bytes of a response, readable once. Back-pressure: the server is slowed down while the consumer does not pull. The
 * memory of a chunk may be reused when the next one is pulled. Leaving the iteration early, or `cancel`, frees the
 * connection.
 */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  text(): Promise<string>
  cancel(): void
}

/**
 * Sends requests to an API server, over sockets or in process. Rejects with a ConnectionError if there is no response;
 * every response resolves, also a 500.
 */
export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>
  /** Closes every connection, also those of streams. */
  close(): Promise<void>
}
