import { type HttpError, type HttpResponse, text } from '@tenure/http'
import { asError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { ClaimFailure } from '../handout/errors.ts'

/** A failure as the original answers it: plain text with a newline. */
export function plainFailure({ code, status, message, headers }: HttpError): HttpResponse {
  return { ...text(status, `${WORDS[code] ?? message}\n`), headers }
}

/** Failures of the server in the original's words. */
const WORDS: Readonly<Record<string, string>> = {
  TENURE_HTTP_METHOD: 'method not allowed',
  TENURE_HTTP_NOT_FOUND: '404 page not found',
}

/** The response to a claim that cannot be taken, renewed or released; other errors are thrown again. */
export function claimFailure(error: unknown, log: Logger): HttpResponse {
  if (!(error instanceof ClaimFailure)) throw error
  const { cause, code, message, retryAfter, status } = error
  if (status >= 500)
    log.warn('claim request failed', { code, message, ...(cause !== undefined && { error: asError(cause) }) })
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  return { ...text(status, `${message}\n`), headers }
}
