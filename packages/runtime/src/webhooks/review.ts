import type { Clock } from '@tenure/kube'
import { abortReason, systemClock, TenureError, withTimeout } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { AdmissionRequest } from './admission.ts'
import { ADMISSION_API_VERSION, MalformedReview, readReview } from './admission.ts'
import { diffJson } from './json-diff.ts'
import type { AdmissionResult } from './admission-result.ts'
import { deny } from './admission-result.ts'
import type { Webhook } from './webhook.ts'

export interface ReviewOptions {
  /** Milliseconds that the API server waits. Default: the webhook's `timeoutSeconds`. */
  readonly timeout?: number | undefined
  /** Aborts when the caller disconnects. */
  readonly signal?: AbortSignal | undefined
  /** Default: no logs. */
  readonly log?: Logger | undefined
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
}

/** An HTTP response: status and JSON body. */
export interface AdmissionReviewResponse {
  readonly status: number
  readonly body: unknown
}

/**
 * Answers one AdmissionReview, given as JSON text or already parsed. Never rejects: an invalid review gets 400, and a
 * handler that fails or times out is answered according to the webhook's failure policy. `Fail`: a denial that says so.
 * `Ignore`: HTTP 500 or 504, which makes the API server admit the request.
 */
export async function handleReview(
  webhook: Webhook,
  review: unknown,
  options: ReviewOptions = {},
): Promise<AdmissionReviewResponse> {
  const { log = silentLogger } = options
  let request: AdmissionRequest
  try {
    request = readReview(review)
  } catch (error) {
    if (!(error instanceof MalformedReview)) throw error
    log.warn('received malformed admission review', { webhook: webhook.name, error })
    return errorResponse(400, 'BadRequest', error.message)
  }
  const facts = {
    webhook: webhook.name,
    uid: request.uid,
    operation: request.operation,
    resource: request.resource.resource,
    namespace: request.namespace,
    name: request.name,
  }
  try {
    const result = await runHandler(webhook, request, options)
    if (!result.allowed) log.debug('denied admission request', { ...facts, message: result.status?.message })
    return reviewResponse(webhook, request, result)
  } catch (error) {
    if (options.signal?.aborted) log.info('admission caller disconnected', { ...facts, error })
    else log.error('admission handler failed', { ...facts, error })
    const isLate = error instanceof HandlerTimeout
    const status = isLate ? 504 : 500
    const reason = isLate ? 'Timeout' : 'InternalError'
    // Messages of unexpected errors may contain internals that the client must not see.
    const why =
      error instanceof TenureError ? error.message : 'its handler failed; see the log of the webhook for this uid'
    const message = `Webhook ${webhook.name} could not decide on request ${request.uid}: ${why}`
    if (webhook.failurePolicy === 'Ignore') return errorResponse(status, reason, message)
    return reviewResponse(webhook, request, deny(message, { code: status, reason }))
  }
}

/** An error response: a metav1.Status whose message the API server passes on. */
export function errorResponse(code: number, reason: string, message: string): AdmissionReviewResponse {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code } }
}

class HandlerTimeout extends TenureError {
  constructor(budget: number) {
    super('TENURE_WEBHOOK_TIMEOUT', `its handler took more than ${Math.round(budget)} ms; try again.`, {
      fate: 'retry',
    })
  }
}

async function runHandler(
  webhook: Webhook,
  request: AdmissionRequest,
  options: ReviewOptions,
): Promise<AdmissionResult> {
  const { clock = systemClock, log = silentLogger } = options
  const timeout = options.timeout ?? webhook.timeoutSeconds * 1000
  // The response must arrive before the API server gives up, so reserve time for the way back.
  const budget = timeout - Math.min(250, timeout / 10)
  const limit = withTimeout(clock, budget, () => new HandlerTimeout(budget), options.signal)
  if (webhook.type === 'mutating') {
    // A mutation in place would leave nothing to diff against; freezing makes it throw instead.
    freeze(request.object)
    freeze(request.oldObject)
  }
  try {
    const result = webhook.admit(request, {
      signal: limit.signal,
      log: log.child({ webhook: webhook.name, uid: request.uid }),
    })
    return await Promise.race([result, aborted(limit.signal)])
  } finally {
    limit.dispose()
  }
}

function reviewResponse(webhook: Webhook, request: AdmissionRequest, result: AdmissionResult): AdmissionReviewResponse {
  const { warnings, auditAnnotations } = result.details
  const operations = operationsOf(webhook, request, result)
  return {
    status: 200,
    body: {
      apiVersion: ADMISSION_API_VERSION,
      kind: 'AdmissionReview',
      response: {
        uid: request.uid,
        allowed: result.allowed,
        ...(result.status && { status: result.status }),
        ...(warnings?.length && { warnings }),
        ...(auditAnnotations && { auditAnnotations }),
        ...(operations.length > 0 && {
          patchType: 'JSONPatch',
          patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
        }),
      },
    },
  }
}

function operationsOf(
  webhook: Webhook,
  request: AdmissionRequest,
  { outcome }: AdmissionResult,
): ReturnType<typeof diffJson> {
  if (!outcome) return []
  if (webhook.type === 'validating') {
    throw new TenureError('TENURE_WEBHOOK_NO_OBJECT', 'a validating webhook cannot change an object.', { fate: 'bug' })
  }
  if ('patch' in outcome) return outcome.patch
  if (!request.object) {
    throw new TenureError('TENURE_WEBHOOK_NO_OBJECT', `a ${request.operation} request has no object to change.`, {
      fate: 'bug',
    })
  }
  return diffJson(request.object, outcome.object)
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(abortReason(signal))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  Object.freeze(value)
  for (const inside of Object.values(value)) freeze(inside)
}
