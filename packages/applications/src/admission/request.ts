import { Application } from '../api/index.ts'
import { isRecord, own } from '../validation/schema.ts'

/** What a judgement needs to know of a request, whoever sent it and however complete it is. */
export interface AdmissionFacts {
  /** Of the object; undefined if the caller did not say. */
  readonly kind: string | undefined
  readonly operation: string
  /** The object as it is to be; on DELETE there is none. */
  readonly object: Readonly<Record<string, unknown>> | undefined
  /** The object as it is; only on UPDATE, and not every caller sends it. */
  readonly oldObject: Readonly<Record<string, unknown>> | undefined
  readonly username: string | undefined
  /** In whose name the fields are written, from the request's options. */
  readonly fieldManager: string | undefined
}

export interface AdmissionReviewRequest extends AdmissionFacts {
  readonly uid: string
}

/** The facts of a request, of whatever shape: what is not as it should be counts as missing. */
export function factsOf(request: object): AdmissionFacts {
  const fields: Readonly<Record<string, unknown>> = { ...request }
  const operation = own(fields, 'operation')
  return {
    kind: text(record(own(fields, 'kind')), 'kind'),
    operation: typeof operation === 'string' ? operation : '',
    object: record(own(fields, 'object')),
    oldObject: record(own(fields, 'oldObject')),
    username: text(record(own(fields, 'userInfo')), 'username'),
    fieldManager: text(record(own(fields, 'options')), 'fieldManager'),
  }
}

/**
 * Reads an AdmissionReview v1 that was posted to us: the request in it, or why it can not be answered. Of the parts
 * that only name what it is about (kind, resource, the review's own apiVersion and kind) none has to be there, so that
 * a review written by hand is answered too; what is there must be right.
 */
export function readRequest(review: unknown): AdmissionReviewRequest | { readonly malformed: string } {
  if (!isRecord(review)) return { malformed: 'the body is no JSON object' }
  const kind = own(review, 'kind')
  if (kind !== undefined && kind !== 'AdmissionReview') return { malformed: 'its kind is not AdmissionReview' }
  const apiVersion = own(review, 'apiVersion')
  if (apiVersion !== undefined && apiVersion !== 'admission.k8s.io/v1') {
    return { malformed: 'its apiVersion is not admission.k8s.io/v1' }
  }
  const request = own(review, 'request')
  if (!isRecord(request)) return { malformed: 'it has no request' }
  const uid = own(request, 'uid')
  if (typeof uid !== 'string' || uid === '') return { malformed: 'its request has no uid' }
  const facts = factsOf(request)
  if (!['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].includes(facts.operation)) {
    return { malformed: 'the operation of its request is none of CREATE, UPDATE, DELETE, CONNECT' }
  }
  if (!facts.object && (facts.operation === 'CREATE' || facts.operation === 'UPDATE')) {
    return { malformed: `its ${facts.operation} request has no object` }
  }
  return { ...facts, uid }
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined
}

function text(from: Readonly<Record<string, unknown>> | undefined, key: string): string | undefined {
  const value = from && own(from, key)
  return typeof value === 'string' ? value : undefined
}

/** The Application that is to be written, unless it is on its way out; undefined if there is nothing to have a say in. */
export function writtenApplication(facts: AdmissionFacts): Readonly<Record<string, unknown>> | undefined {
  const { object, operation, kind = Application.kind } = facts
  // A configuration that sends us other kinds must not get in their way.
  if (!object || kind !== Application.kind || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
  const metadata = record(own(object, 'metadata'))
  // What still happens to a deleted one is that finalizers come off.
  return metadata && own(metadata, 'deletionTimestamp') !== undefined ? undefined : object
}
