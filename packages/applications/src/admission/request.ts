import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { Application } from '../api/index.ts'
import { own } from '../validation/schema.ts'

/** Parts of an admission request that the decision depends on. */
export interface AdmissionFacts {
  /** Kind of the object; undefined if the caller left it out. */
  readonly kind: string | undefined
  readonly operation: string
  /** New state of the object; undefined on DELETE. */
  readonly object: JsonObject | undefined
  /** Current state of the object; on UPDATE only, and not every caller sends it. */
  readonly oldObject: JsonObject | undefined
  readonly username: string | undefined
  /** From the request's options. */
  readonly fieldManager: string | undefined
}

export interface PostedReviewRequest extends AdmissionFacts {
  readonly uid: string
}

/** Reads a request of any shape; a part of a wrong type counts as missing. */
export function factsOf(request: object): AdmissionFacts {
  const fields: JsonObject = { ...request }
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
 * Reads the request of an AdmissionReview v1, or says why it is malformed. The parts that only describe the review (kind,
 * resource, apiVersion) are optional, so that a review written by hand is answered too, but must be right if present.
 */
export function readRequest(review: unknown): PostedReviewRequest | { readonly malformed: string } {
  if (!isJsonObject(review)) return { malformed: 'the body is not a JSON object' }
  const kind = own(review, 'kind')
  if (kind !== undefined && kind !== 'AdmissionReview') return { malformed: 'its kind is not AdmissionReview' }
  const apiVersion = own(review, 'apiVersion')
  if (apiVersion !== undefined && apiVersion !== 'admission.k8s.io/v1') {
    return { malformed: 'its apiVersion is not admission.k8s.io/v1' }
  }
  const request = own(review, 'request')
  if (!isJsonObject(request)) return { malformed: 'it has no request' }
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

function record(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

function text(from: JsonObject | undefined, key: string): string | undefined {
  const value = from && own(from, key)
  return typeof value === 'string' ? value : undefined
}

/** The Application that the request writes; undefined if there is nothing to validate or to default. */
export function writtenApplication(facts: AdmissionFacts): JsonObject | undefined {
  const { object, operation, kind = Application.kind } = facts
  // A misconfigured webhook may send other kinds: they pass.
  if (!object || kind !== Application.kind || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
  const metadata = record(own(object, 'metadata'))
  // The only change left for a deleted object is the removal of its finalizers.
  return metadata && own(metadata, 'deletionTimestamp') !== undefined ? undefined : object
}
