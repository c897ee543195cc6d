import type { JsonPatchOperation, KubeObject } from '@tenure/kube'

export interface AdmissionDetails {
  /** Shown to whoever made the request. Keep each under 120 characters; the API server cuts at 256. */
  readonly warnings?: readonly string[]
  /** Added to the API server's audit log, under the webhook's name. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export interface DenyOptions extends AdmissionDetails {
  /** The HTTP status of the refused request. Default 403. */
  readonly code?: number
  /** Its machine-readable reason. Default `Forbidden`. */
  readonly reason?: string
}

/** What a webhook says about a request. Made by `allow`, `deny`, `changed` and `patched`. */
export class AdmissionResult<out T extends KubeObject = KubeObject> {
  readonly allowed: boolean
  readonly status: { readonly code: number; readonly message: string; readonly reason: string } | undefined
  readonly details: AdmissionDetails
  /** A new object, or the operations that lead to it; mutating webhooks only. */
  readonly outcome: { readonly object: T } | { readonly patch: readonly JsonPatchOperation[] } | undefined

  constructor(parts: {
    readonly allowed: boolean
    readonly status?: AdmissionResult<T>['status']
    readonly details?: AdmissionDetails
    readonly outcome?: AdmissionResult<T>['outcome']
  }) {
    this.allowed = parts.allowed
    this.status = parts.status
    this.details = parts.details ?? {}
    this.outcome = parts.outcome
  }
}

/** Lets the request pass as it is. */
export function allow(details: AdmissionDetails = {}): AdmissionResult<never> {
  return new AdmissionResult({ allowed: true, details })
}

/** Refuses the request. The message is shown to whoever made it: say what is wrong and what to do. */
export function deny(message: string, options: DenyOptions = {}): AdmissionResult<never> {
  const { code = 403, reason = 'Forbidden', ...details } = options
  return new AdmissionResult({ allowed: false, status: { code, message, reason }, details })
}

/** Lets the request pass with another object, and something to remark; without details just return the object. */
export function changed<T extends KubeObject>(object: T, details: AdmissionDetails = {}): AdmissionResult<T> {
  return new AdmissionResult({ allowed: true, details, outcome: { object } })
}

/** Lets the request pass with operations of one's own on its object. */
export function patched(
  operations: readonly JsonPatchOperation[],
  details: AdmissionDetails = {},
): AdmissionResult<never> {
  return new AdmissionResult({ allowed: true, details, outcome: { patch: operations } })
}
