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
  /** How long the API server waits, in milliseconds. Default: the webhook's `timeoutSeconds`. */
  readonly timeout?: number | undefined
  /** Aborts when the caller is gone. */
  readonly signal?: AbortSignal | undefined
  /** Default: none. */
  readonly log?: Logger | undefined
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined
}

/** An HTTP answer: the status and what to send as JSON. */
export interface ReviewResponse {
  readonly status: number
  readonly body: unknown
}

/**
 * Answers one AdmissionReview, given as JSON text or already parsed. Never rejects: what is no review is a 400, and a
 * handler that fails or takes too long is answered as the webhook's failure policy wants it. `Fail`: a refusal that
 * says so. `Ignore`: an HTTP 500 or 504, which makes the API server let the request through.
 */
export async function handleReview(
  webhook: Webhook,
  review: unknown,
  options: ReviewOptions = {},
): Promise<ReviewResponse> {
  const { log = silentLogger } = options
  let request: AdmissionRequest
  try {
    request = readReview(review)
  } catch (error) {
    if (!(error instanceof MalformedReview)) throw error
    log.warn('malformed admission review', { webhook: webhook.name, error })
    return refusal(400, 'BadRequest', error.message)
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
    const result = await judge(webhook, request, options)
    if (!result.allowed) log.debug('admission refused', { ...facts, message: result.status?.message })
    return answer(webhook, request, result)
  } catch (error) {
    if (options.signal?.aborted) log.info('admission caller went away', { ...facts, error })
    else log.error('admission handler failed', { ...facts, error })
    const isLate = error instanceof HandlerTimeout
    const status = isLate ? 504 : 500
    const reason = isLate ? 'Timeout' : 'InternalError'
    // What is not one of ours was not written for the eyes of whoever made the request.
    const why = error instanceof TenureError ? error.message : 'it failed; its log has the reason under this uid'
    const message = `Webhook ${webhook.name} could not decide on request ${request.uid}: ${why}`
    if (webhook.failurePolicy === 'Ignore') return refusal(status, reason, message)
    return answer(webhook, request, deny(message, { code: status, reason }))
  }
}

/** An answer that is no review: a metav1.Status, whose message the API server passes on. */
export function refusal(code: number, reason: string, message: string): ReviewResponse {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code } }
}

class HandlerTimeout extends TenureError {
  constructor(budget: number) {
    super('TENURE_WEBHOOK_TIMEOUT', `it took more than ${Math.round(budget)} ms; try again.`, { fate: 'retry' })
  }
}

async function judge(webhook: Webhook, request: AdmissionRequest, options: ReviewOptions): Promise<AdmissionResult> {
  const { clock = systemClock, log = silentLogger } = options
  const timeout = options.timeout ?? webhook.timeoutSeconds * 1000
  // An answer that arrives when nobody waits explains nothing: leave it time for the way back.
  const budget = timeout - Math.min(250, timeout / 10)
  const limit = withTimeout(clock, budget, () => new HandlerTimeout(budget), options.signal)
  if (webhook.type === 'mutating') {
    // A change in place would leave nothing to compare with: better that it throws than that it is lost.
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

function answer(webhook: Webhook, request: AdmissionRequest, result: AdmissionResult): ReviewResponse {
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
    throw new TenureError('TENURE_WEBHOOK_NO_OBJECT', 'a validating webhook can not change an object.', { fate: 'bug' })
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
