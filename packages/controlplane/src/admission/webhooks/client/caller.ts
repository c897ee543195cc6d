/** One POST to a webhook. */
export interface WebhookPost {
  /** As in messages and in the request line; a service's name is its host. */
  readonly url: URL
  /** Where to connect to instead of the URL's host: what a service was resolved to. */
  readonly address?: ServiceAddress | undefined
  /** PEM. Undefined: the authorities that the machine trusts. */
  readonly certificateAuthority: string | undefined
  readonly body: string
  readonly signal: AbortSignal
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

export interface WebhookAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/**
 * Carries reviews to webhooks. Rejects if there is no answer, with a message in the words of Go's client
 * (`dial tcp 127.0.0.1:9443: connect: connection refused`), or with the signal's reason.
 */
export interface WebhookCaller {
  post(post: WebhookPost): Promise<WebhookAnswer>
  close(): void
}
