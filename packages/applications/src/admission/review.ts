import type { JsonPatchOperation } from '@tenure/kube'
import type { AdmissionReviewResponse } from '@tenure/runtime/webhooks'
import { defaultsPatch } from './mutate.ts'
import { readRequest, type PostedReviewRequest } from './request.ts'
import { decide, type AdmissionRules } from './validate.ts'

/** An answer, with the facts that metrics count. */
export interface Reviewed extends AdmissionReviewResponse {
  /** Undefined if the body was not an AdmissionReview. */
  readonly operation: string | undefined
  readonly allowed: boolean
}

/** Answers an AdmissionReview of any shape posted to `/validate`. A refusal is an answer: status 200, `allowed: false`. */
export function reviewValidate(review: unknown, rules: AdmissionRules): Reviewed {
  return reviewed(review, (request) => {
    const { denied, warnings } = decide(request, rules)
    return {
      allowed: denied === undefined,
      ...(denied !== undefined && { status: { code: 403, message: denied, reason: 'Forbidden' } }),
      ...(warnings.length > 0 && { warnings }),
    }
  })
}

/** Answers an AdmissionReview of any shape posted to `/mutate`: always allowed, with a patch if something is missing. */
export function reviewMutate(review: unknown): Reviewed {
  return reviewed(review, (request) => ({ allowed: true, ...encoded(defaultsPatch(request)) }))
}

function encoded(operations: readonly JsonPatchOperation[]): object {
  if (operations.length === 0) return {}
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

interface Decision {
  readonly allowed: boolean
}

function reviewed(review: unknown, decide: (request: PostedReviewRequest) => Decision): Reviewed {
  const request = readRequest(review)
  if ('malformed' in request) {
    const error = `This is not an AdmissionReview that can be answered: ${request.malformed}`
    return { status: 400, body: { error }, operation: undefined, allowed: false }
  }
  const decision = decide(request)
  return {
    status: 200,
    body: {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, ...decision },
    },
    operation: request.operation,
    allowed: decision.allowed,
  }
}
