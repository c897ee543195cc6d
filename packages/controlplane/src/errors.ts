import { BoundedErrors } from './schema/bounded-errors.ts'
import type { FieldError } from './schema/types.ts'

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  readonly retryAfterSeconds?: number
}

/** An error response as the Status that is sent. Reasons and wording are those of kube-apiserver. */
export class StatusError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined
  /** Warnings of the request, sent with the error as they are sent with a success. */
  warnings: readonly string[] = []

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }
}

/** The resource (plural), group and kind that an error names. */
export interface ResourceNames {
  readonly group: string
  readonly plural: string
  readonly kind: string
}

const resourceName = ({ group, plural }: ResourceNames): string => (group ? `${plural}.${group}` : plural)
const details = (of: ResourceNames, name: string): StatusDetails => ({
  name,
  ...(of.group && { group: of.group }),
  kind: of.plural,
})

export const notFound = (of: ResourceNames, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${resourceName(of)} "${name}" not found`, details(of, name))

export const alreadyExists = (of: ResourceNames, name: string): StatusError =>
  new StatusError(409, 'AlreadyExists', `${resourceName(of)} "${name}" already exists`, details(of, name))

export const conflict = (of: ResourceNames, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceName(of)} "${name}": ${why}`,
    details(of, name),
  )

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message)

export const forbidden = (of: ResourceNames, name: string, why: string): StatusError =>
  new StatusError(403, 'Forbidden', `${resourceName(of)} "${name}" is forbidden: ${why}`, details(of, name))

export const methodNotAllowed = (message: string): StatusError => new StatusError(405, 'MethodNotAllowed', message)

export const gone = (message: string): StatusError => new StatusError(410, 'Expired', message)

/** The error, with the warnings collected before it. */
export function withWarnings(error: unknown, warnings: readonly string[]): unknown {
  if (error instanceof StatusError && warnings.length > 0) error.warnings = warnings
  return error
}

/** 422 with the field errors, up to a limit. */
export function invalid(of: ResourceNames, name: string, found: readonly FieldError[]): StatusError {
  const bounded = new BoundedErrors()
  bounded.addAll(found)
  const errors = bounded.list
  // kube-apiserver deduplicates field errors in the message, but not in the causes.
  const lines = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  if (errors.length < found.length) lines.push('and more')
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`
  const kind = of.group ? `${of.kind}.${of.group}` : of.kind
  return new StatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, {
    ...(name && { name }),
    ...(of.group && { group: of.group }),
    ...(of.kind && { kind: of.kind }),
    causes: errors.map(({ reason, field, message }) => ({ reason, message, field })),
  })
}

export interface StatusBody {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: Record<string, never>
  readonly status: 'Failure'
  readonly message: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

export function statusBody(error: StatusError): StatusBody {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    // An error without a reason is sent without the field.
    ...(error.reason && { reason: error.reason }),
    ...(error.details && { details: error.details }),
    code: error.code,
  }
}
