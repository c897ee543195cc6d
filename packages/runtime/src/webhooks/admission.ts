import type { GroupVersionKind, KubeObject } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import { isJsonObject } from '@tenure/kube/model'

export const ADMISSION_API_VERSION = 'admission.k8s.io/v1'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

export interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface RequestFacts {
  readonly uid: string
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  /** Kind of the original request, if `matchPolicy: Equivalent` converted it to `kind`. */
  readonly requestKind?: GroupVersionKind
  readonly requestResource?: GroupVersionResource
  readonly requestSubResource?: string
  /** Empty if the server generates the name. */
  readonly name?: string
  readonly namespace?: string
  readonly userInfo: UserInfo
  /** True if nothing will be stored; the handler must then have no side effects. */
  readonly dryRun: boolean
  /** Options of the operation: CreateOptions, UpdateOptions, DeleteOptions… */
  readonly options?: unknown
}

/** The request under review. `operation` determines which objects are present. */
export type AdmissionRequest<T extends KubeObject = KubeObject> = RequestFacts &
  (
    | { readonly operation: 'CREATE'; readonly object: T; readonly oldObject?: undefined }
    | { readonly operation: 'UPDATE'; readonly object: T; readonly oldObject: T }
    | { readonly operation: 'DELETE'; readonly object?: undefined; readonly oldObject: T }
    /** `object` holds the options of the connection, such as PodExecOptions. */
    | { readonly operation: 'CONNECT'; readonly object?: T; readonly oldObject?: undefined }
  )

/** The body is not a valid AdmissionReview. */
export class MalformedReview extends TenureError {
  constructor(what: string, cause?: unknown) {
    super('TENURE_WEBHOOK_REVIEW', `Invalid AdmissionReview: ${what}.`, { cause })
  }
}

const OPERATIONS: ReadonlySet<unknown> = new Set<AdmissionOperation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/**
 * Reads the request of a review, given as JSON text or already parsed. Throws a MalformedReview that says what is
 * wrong.
 */
export function readReview(review: unknown): AdmissionRequest {
  const parsed = typeof review === 'string' ? parse(review) : review
  if (!isJsonObject(parsed)) throw new MalformedReview('the body is not a JSON object')
  if (parsed['kind'] !== 'AdmissionReview') throw new MalformedReview(`kind is ${shown(parsed['kind'])}`)
  if (parsed['apiVersion'] !== ADMISSION_API_VERSION) {
    throw new MalformedReview(`apiVersion is ${shown(parsed['apiVersion'])}, expected ${ADMISSION_API_VERSION}`)
  }
  const request = parsed['request']
  if (!isJsonObject(request)) throw new MalformedReview('it has no request')
  if (typeof request['uid'] !== 'string' || request['uid'] === '') throw new MalformedReview('its request has no uid')
  const operation = request['operation']
  if (!OPERATIONS.has(operation)) throw new MalformedReview(`the operation is ${shown(operation)}`)
  for (const field of ['kind', 'resource'] as const) {
    if (!isJsonObject(request[field])) throw new MalformedReview(`its request has no ${field}`)
  }
  const needed = { CREATE: ['object'], UPDATE: ['object', 'oldObject'], DELETE: ['oldObject'], CONNECT: [] }
  for (const field of needed[operation as AdmissionOperation]) {
    if (!isJsonObject(request[field])) throw new MalformedReview(`its ${String(operation)} request has no ${field}`)
  }
  const { object, oldObject, userInfo, ...facts } = request
  return {
    ...facts,
    userInfo: isJsonObject(userInfo) ? userInfo : {},
    dryRun: request['dryRun'] === true,
    // The server sends null for a missing object.
    ...(isJsonObject(object) && { object }),
    ...(isJsonObject(oldObject) && { oldObject }),
  } as unknown as AdmissionRequest
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MalformedReview('the body is not JSON', cause)
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 60)}"` : value === undefined ? 'missing' : 'not a string'
}
