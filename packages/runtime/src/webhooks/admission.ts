import type { KubeObject } from '@tenure/kube'
import { TenureError } from '@tenure/kube'
import { isRecord } from './json-diff.ts'

export const ADMISSION_API_VERSION = 'admission.k8s.io/v1'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

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
  /** What was asked for, where `matchPolicy: Equivalent` converted it to `kind`. */
  readonly requestKind?: GroupVersionKind
  readonly requestResource?: GroupVersionResource
  readonly requestSubResource?: string
  /** Empty where the server is to generate it. */
  readonly name?: string
  readonly namespace?: string
  readonly userInfo: UserInfo
  /** True: nothing will be stored, so the handler must leave nothing behind either. */
  readonly dryRun: boolean
  /** The operation's options: CreateOptions, UpdateOptions, DeleteOptions… */
  readonly options?: unknown
}

/** What the API server asks about. `operation` says which of the objects there are. */
export type AdmissionRequest<T extends KubeObject = KubeObject> = RequestFacts &
  (
    | { readonly operation: 'CREATE'; readonly object: T; readonly oldObject?: undefined }
    | { readonly operation: 'UPDATE'; readonly object: T; readonly oldObject: T }
    | { readonly operation: 'DELETE'; readonly object?: undefined; readonly oldObject: T }
    /** `object` is the connection's options, such as PodExecOptions. */
    | { readonly operation: 'CONNECT'; readonly object?: T; readonly oldObject?: undefined }
  )

/** A review that can not be answered, because it is not one. */
export class MalformedReview extends TenureError {
  constructor(what: string, cause?: unknown) {
    super('TENURE_WEBHOOK_REVIEW', `This is not an AdmissionReview that can be answered: ${what}.`, { cause })
  }
}

const OPERATIONS: ReadonlySet<unknown> = new Set<AdmissionOperation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/** The request in a review, given as JSON text or already parsed. Throws a MalformedReview that says what is wrong. */
export function readReview(review: unknown): AdmissionRequest {
  const parsed = typeof review === 'string' ? parse(review) : review
  if (!isRecord(parsed)) throw new MalformedReview('the body is no JSON object')
  if (parsed['kind'] !== 'AdmissionReview') throw new MalformedReview(`kind is ${shown(parsed['kind'])}`)
  if (parsed['apiVersion'] !== ADMISSION_API_VERSION) {
    throw new MalformedReview(`apiVersion is ${shown(parsed['apiVersion'])} and not ${ADMISSION_API_VERSION}`)
  }
  const request = parsed['request']
  if (!isRecord(request)) throw new MalformedReview('it has no request')
  if (typeof request['uid'] !== 'string' || request['uid'] === '') throw new MalformedReview('its request has no uid')
  const operation = request['operation']
  if (!OPERATIONS.has(operation)) throw new MalformedReview(`the operation is ${shown(operation)}`)
  for (const field of ['kind', 'resource'] as const) {
    if (!isRecord(request[field])) throw new MalformedReview(`its request has no ${field}`)
  }
  const needed = { CREATE: ['object'], UPDATE: ['object', 'oldObject'], DELETE: ['oldObject'], CONNECT: [] }
  for (const field of needed[operation as AdmissionOperation]) {
    if (!isRecord(request[field])) throw new MalformedReview(`its ${String(operation)} request has no ${field}`)
  }
  const { object, oldObject, userInfo, ...facts } = request
  return {
    ...facts,
    userInfo: isRecord(userInfo) ? userInfo : {},
    dryRun: request['dryRun'] === true,
    // The server writes null for what there is not.
    ...(isRecord(object) && { object }),
    ...(isRecord(oldObject) && { oldObject }),
  } as unknown as AdmissionRequest
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MalformedReview('the body is no JSON', cause)
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value.slice(0, 60)}"` : value === undefined ? 'missing' : 'no string'
}
