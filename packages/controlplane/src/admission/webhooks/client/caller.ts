/** One POST to a webhook. */
export interface WebhookPost {
  /** URL for messages and the request line. For a Service the host is the name of the Service. */
  readonly url: URL
  /** Resolved address of the Service; replaces the URL's host for the connection. */
  readonly address?: ServiceAddress | undefined
  /** PEM. Undefined: the system's trusted authorities. */
  readonly certificateAuthority: string | undefined
  readonly body: string
  readonly signal: AbortSignal
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

export interface WebhookResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/**
 * Sends reviews to webhooks. Without a response it rejects with the message of Go's client
 * (`dial tcp 127.0.0.1:9443: connect: connection refused`), or with the signal's reason.
 */
export interface WebhookCaller {
  post(post: WebhookPost): Promise<WebhookResponse>
  close(): void
}
