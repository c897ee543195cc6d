import type { ResponseBody, Status, TransportResponse } from '@tenure/kube'

/** A refusal inside the memory API, turned into a Status answer at its edge. */
export class Refusal extends Error {
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

/** The Status object that a real API server would send for it. */
export function statusOf(refusal: Refusal): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: refusal.message,
    reason: refusal.reason,
    ...(refusal.details && { details: refusal.details }),
    code: refusal.status,
  }
}

/** An answer with a JSON body. */
export function jsonAnswer(
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

/** An error answer to hand out from `MemoryApi.intercept`: `refuse(429, 'TooManyRequests', 'slow down', 2)`. */
export function refuse(
  status: number,
  reason: string,
  message = reason,
  retryAfterSeconds?: number,
): TransportResponse {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }
  return jsonAnswer(
    status,
    statusOf(new Refusal(status, reason, message, details)),
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  )
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
