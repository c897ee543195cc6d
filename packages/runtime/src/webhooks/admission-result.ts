import type { JsonPatchOperation, KubeObject } from '@tenure/kube'

export interface AdmissionDetails {
  /** Warnings shown to the client. Keep each under 120 characters; the API server truncates at 256. */
  readonly warnings?: readonly string[]
  /** Added to the API server's audit log with the webhook's name as prefix. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export interface DenyOptions extends AdmissionDetails {
  /** HTTP status of the denied request. Default 403. */
  readonly code?: number
  /** Machine-readable reason. Default `Forbidden`. */
  readonly reason?: string
}

/** Result of a webhook. Created by `allow`, `deny`, `changed` and `patched`. */
export class AdmissionResult<out T extends KubeObject = KubeObject> {
  readonly allowed: boolean
  readonly status: { readonly code: number; readonly message: string; readonly reason: string } | undefined
  readonly details: AdmissionDetails
  /** The changed object, or a patch; only for mutating webhooks. */
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

/** Allows the request unchanged. */
export function allow(details: AdmissionDetails = {}): AdmissionResult<never> {
  return new AdmissionResult({ allowed: true, details })
}

/** Denies the request. The message is shown to the client: say what is wrong and what to do. */
export function deny(message: string, options: DenyOptions = {}): AdmissionResult<never> {
  const { code = 403, reason = 'Forbidden', ...details } = options
  return new AdmissionResult({ allowed: false, status: { code, message, reason }, details })
}

/** Allows the request with a changed object and details; without details, return the object itself. */
export function changed<T extends KubeObject>(object: T, details: AdmissionDetails = {}): AdmissionResult<T> {
  return new AdmissionResult({ allowed: true, details, outcome: { object } })
}

/** Allows the request with a JSON patch of its object. */
export function patched(
  operations: readonly JsonPatchOperation[],
  details: AdmissionDetails = {},
): AdmissionResult<never> {
  return new AdmissionResult({ allowed: true, details, outcome: { patch: operations } })
}
