import type { JsonPatchOperation, KubeObject } from '@tenure/kube'

export interface Remarks {
  /** Shown to whoever made the request. Keep each under 120 characters; the API server cuts at 256. */
  readonly warnings?: readonly string[]
  /** Added to the API server's audit log, under the webhook's name. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export interface DenyOptions extends Remarks {
  /** The HTTP status of the refused request. Default 403. */
  readonly code?: number
  /** Its machine-readable reason. Default `Forbidden`. */
  readonly reason?: string
}

/** What a webhook says about a request. Made by `allow`, `deny`, `changed` and `patched`. */
export class AdmissionVerdict<out T extends KubeObject = KubeObject> {
  readonly allowed: boolean
  readonly status: { readonly code: number; readonly message: string; readonly reason: string } | undefined
  readonly remarks: Remarks
  /** A new object, or the operations that lead to it; mutating webhooks only. */
  readonly outcome: { readonly object: T } | { readonly patch: readonly JsonPatchOperation[] } | undefined

  constructor(parts: {
    readonly allowed: boolean
    readonly status?: AdmissionVerdict<T>['status']
    readonly remarks?: Remarks
    readonly outcome?: AdmissionVerdict<T>['outcome']
  }) {
    this.allowed = parts.allowed
    this.status = parts.status
    this.remarks = parts.remarks ?? {}
    this.outcome = parts.outcome
  }
}

/** Lets the request pass as it is. */
export function allow(remarks: Remarks = {}): AdmissionVerdict<never> {
  return new AdmissionVerdict({ allowed: true, remarks })
}

/** Refuses the request. The message is shown to whoever made it: say what is wrong and what to do. */
export function deny(message: string, options: DenyOptions = {}): AdmissionVerdict<never> {
  const { code = 403, reason = 'Forbidden', ...remarks } = options
  return new AdmissionVerdict({ allowed: false, status: { code, message, reason }, remarks })
}

/** Lets the request pass with another object, and something to remark; without remarks just return the object. */
export function changed<T extends KubeObject>(object: T, remarks: Remarks = {}): AdmissionVerdict<T> {
  return new AdmissionVerdict({ allowed: true, remarks, outcome: { object } })
}

/** Lets the request pass with operations of one's own on its object. */
export function patched(operations: readonly JsonPatchOperation[], remarks: Remarks = {}): AdmissionVerdict<never> {
  return new AdmissionVerdict({ allowed: true, remarks, outcome: { patch: operations } })
}
