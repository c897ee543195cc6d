import type { ResponseBody, Status, TransportResponse } from '@tenure/kube'

/** An error of the in-memory API, which becomes a Status response. */
export class RequestError extends Error {
  readonly status: number
  readonly reason: string
  readonly details: Status['details']

  constructor(status: number, reason: string, message: string, details?: Status['details']) {
    super(message)
    this.status = status
    this.reason = reason
    this.details = details
  }
}

/** The Status object that a real API server sends for an error. */
export function statusOf({ status, reason, message, details }: RequestError): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code: status,
  }
}

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: bytesBody(new TextEncoder().encode(JSON.stringify(value))),
  }
}

export function errorResponse(error: RequestError): TransportResponse {
  const { retryAfterSeconds } = error.details ?? {}
  const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) }
  return jsonResponse(error.status, statusOf(error), headers)
}

/** An error response for an interceptor: `refuse(429, 'TooManyRequests', 'slow down', 2)`. */
export function refuse(
  status: number,
  reason: string,
  message = reason,
  retryAfterSeconds?: number,
): TransportResponse {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }
  return errorResponse(new RequestError(status, reason, message, details))
}

function bytesBody(bytes: Uint8Array): ResponseBody {
  return {
    text: () => Promise.resolve(new TextDecoder().decode(bytes)),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
}
