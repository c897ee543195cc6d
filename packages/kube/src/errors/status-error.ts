import type { Clock } from '../clock.ts'
import { ApiError } from './errors.ts'
import type { ApiErrorFields, Status } from './errors.ts'
import { deniedAccessIn, isAdmissionDenial } from './forbidden.ts'
import type { TransportRequest, TransportResponse } from '../transport/transport.ts'

/** The ApiError for a response that is not 2xx. `text` is the whole body. */
export function apiErrorFrom(
  request: Pick<TransportRequest, 'method' | 'path'>,
  response: Pick<TransportResponse, 'status' | 'headers'>,
  text: string,
  clock: Clock,
): ApiError {
  const status = parseStatus(text)
  const fromHeader = retryAfterOf(response.headers, clock)
  if (status) return errorFromStatus(status, response.status, fromHeader)
  const reason = reasonOf(response.status)
  return new ApiError(describeResponse(request, response.status, text), {
    status: response.status,
    reason,
    retryAfter: fromHeader,
    isTlsRequired: response.status === 400 && PLAIN_HTTP.test(text),
    ...(response.status === 403 && forbiddenFields(text)),
  })
}

/** The ApiError for a `Status` object; `code` is used if the Status has none. */
export function errorFromStatus(status: Status, code: number, retryAfter?: number): ApiError {
  const httpStatus = status.code ?? code
  const reason = status.reason || reasonOf(httpStatus)
  const seconds = status.details?.retryAfterSeconds
  const message = status.message || reason
  return new ApiError(advise(message, httpStatus), {
    status: httpStatus,
    reason,
    details: status.details,
    retryAfter: retryAfter ?? (seconds ? seconds * 1000 : undefined),
    ...(httpStatus === 403 && forbiddenFields(message)),
  })
}

/** The body with which a TLS port of a Go server answers a request without TLS. */
const PLAIN_HTTP = /sent an HTTP request to an HTTPS server/

function forbiddenFields(message: string): Pick<ApiErrorFields, 'deniedAccess' | 'isAdmissionDenial'> {
  return { deniedAccess: deniedAccessIn(message), isAdmissionDenial: isAdmissionDenial(message) }
}

/** `Retry-After` (seconds or a date) in milliseconds from now. A date is compared with the server's own `Date`. */
export function retryAfterOf(headers: TransportResponse['headers'], clock: Clock): number | undefined {
  const value = header(headers, 'retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000
  const due = Date.parse(value)
  if (Number.isNaN(due)) return undefined
  return Math.max(due - (serverTimeOf(headers) ?? clock.now()), 0)
}

/** The `Date` header in milliseconds since 1970. */
export function serverTimeOf(headers: TransportResponse['headers']): number | undefined {
  const value = header(headers, 'date')
  const time = value === undefined ? Number.NaN : Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

/** The value of a header; the first if it is repeated. */
export function header(headers: TransportResponse['headers'], name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value[0]
}

function parseStatus(text: string): Status | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isStatus(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status'
}

/** For responses without a Status: from proxies, load balancers and unknown paths. */
function describeResponse(request: Pick<TransportRequest, 'method' | 'path'>, status: number, text: string): string {
  const path = request.path.split('?', 1)[0] ?? request.path
  const answered = `${request.method} ${path} was answered ${status} ${reasonOf(status)}`
  if (status === 404) {
    return `${answered}: the server does not know this path. If it is a custom resource, check that its CRD is installed and serves this version.`
  }
  const excerpt = excerptOf(text)
  return advise(excerpt ? `${answered}: ${excerpt}` : answered, status)
}

const MAX_EXCERPT_LENGTH = 300

function excerptOf(text: string): string {
  // The text of an HTML error page. The slice bounds the cost of the expressions.
  const words = text
    .slice(0, 8192)
    .replaceAll(/<(script|style)[^>]*>[^<]*<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words.length > MAX_EXCERPT_LENGTH ? `${words.slice(0, MAX_EXCERPT_LENGTH)}…` : words
}

function advise(message: string, status: number): string {
  if (status === 401) {
    return `The API server does not accept these credentials (${message}): renew the token or certificate, or check which user the kubeconfig names.`
  }
  if (status === 403 && !isAdmissionDenial(message))
    return `${message}. If it should be allowed, bind a Role or ClusterRole that grants it to the user.`
  return message
}

function reasonOf(status: number): string {
  return REASONS.get(status) ?? (status >= 500 ? 'InternalError' : 'Unknown')
}

const REASONS = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [408, 'Timeout'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [502, 'BadGateway'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
])
