import type { KubeObject } from '@tenure/kube'
import { asJsonObject, asString, isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { forbidden } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import type { ResourceRequest } from '../request.ts'

const BUCKET = 'certificatesigningrequests.certificates.k8s.io'
/** Conditions that only an approval sets. */
const APPROVALS = ['Approved', 'Denied']
const FIELD = 'status.conditions'

const conditionsOf = (object: KubeObject): readonly JsonObject[] => {
  const conditions = valueAtPath(object, 'status', 'conditions')
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : []
}

const ofType = (object: KubeObject, type: string): readonly JsonObject[] =>
  conditionsOf(object).filter((condition) => condition['type'] === type)

/** The certificate request with the times of its conditions, where a write of its status or approval leaves them out. */
export function withConditionTimes(
  { definition, subresource }: ResourceRequest,
  object: KubeObject,
  old: KubeObject,
  now: string,
): KubeObject {
  if (definition.bucket !== BUCKET || subresource === '') return object
  const conditions = subresource === 'status' ? withDecisionsOf(object, old) : conditionsOf(object)
  if (conditions.length === 0) return object
  const timed = conditions.map((condition) => {
    const before = ofType(old, asString(condition['type'])).find(({ status }) => status === condition['status'])
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime: condition['lastTransitionTime'] ?? before?.['lastTransitionTime'] ?? now,
    }
  })
  const status = { ...asJsonObject(valueAtPath(object, 'status')), conditions: timed }
  return { ...object, status } as KubeObject
}

/** A write of the status keeps each decision as it is. A decision more or less is an error. */
function withDecisionsOf(object: KubeObject, old: KubeObject): readonly JsonObject[] {
  return APPROVALS.reduce((conditions, type) => {
    const were = ofType(old, type).values()
    if (ofType(object, type).length !== ofType(old, type).length) return conditions
    return conditions.map((condition) => (condition['type'] === type ? (were.next().value ?? condition) : condition))
  }, conditionsOf(object))
}

/** Errors of a certificate request: a decision stays, and only an approval makes one. */
export function approvalErrors(
  { definition, subresource }: ResourceRequest,
  object: KubeObject,
  old: KubeObject,
): readonly FieldError[] {
  if (definition.bucket !== BUCKET) return []
  const removed = [...APPROVALS, 'Failed'].filter((type) => ofType(object, type).length < ofType(old, type).length)
  const errors = removed.map((type) => forbidden(FIELD, `updates may not remove a condition of type "${type}"`))
  if (subresource === 'approval') return errors
  const added = APPROVALS.filter((type) => ofType(object, type).length > ofType(old, type).length)
  return [...errors, ...added.map((type) => forbidden(FIELD, `updates may not add a condition of type "${type}"`))]
}
