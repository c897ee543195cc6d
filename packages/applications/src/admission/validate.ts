import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { imagePolicyViolation, isBlank, isLatest, type ImagePolicy } from './image-policy.ts'
import { own } from '../validation/schema.ts'
import { writtenApplication, type AdmissionFacts } from './request.ts'

/** How the API server identifies the operator's own writes. */
export interface WriterIdentity {
  readonly username: string
  readonly fieldManager: string
}

export interface AdmissionRules {
  readonly policy: ImagePolicy
  /**
   * Apply the image policy to writes of the operator's own HTTP API too. Default false: only to writes of kubectl and
   * other clients of the API server.
   */
  readonly policyOnRest?: boolean | undefined
  /** Identity of the HTTP API's writes. Default: unknown, so that no write is exempt. */
  readonly operator?: WriterIdentity | undefined
}

export interface AdmissionDecision {
  /** Why the request is refused; undefined if it is allowed. */
  readonly denied: string | undefined
  readonly warnings: readonly string[]
}

const MIN_REPLICAS = 0
const MAX_REPLICAS = 100
const PASSED: AdmissionDecision = { denied: undefined, warnings: [] }

/**
 * Decides whether an Application may be written. Values that an UPDATE does not change are not checked again, and an
 * object that is being deleted is not checked at all, so that objects older than the policy can still be labelled,
 * finalized and deleted.
 */
export function decide(facts: AdmissionFacts, rules: AdmissionRules): AdmissionDecision {
  const { oldObject } = facts
  const object = writtenApplication(facts)
  if (!object) return PASSED
  const spec = specOf(object)
  const before = facts.operation === 'UPDATE' && oldObject ? specOf(oldObject) : undefined
  const image = own(spec, 'image')
  const isSameImage = before !== undefined && own(before, 'image') === image
  const isSameReplicas = before !== undefined && own(before, 'replicas') === own(spec, 'replicas')
  const denied =
    (isSameReplicas ? undefined : replicasViolation(own(spec, 'replicas'))) ??
    (isSameImage ? undefined : newImageViolation(image, facts, rules))
  return { denied, warnings: denied === undefined ? warningsFor(spec, image) : [] }
}

function replicasViolation(replicas: unknown): string | undefined {
  // The schema refuses a missing value.
  if (replicas === undefined) return undefined
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) return 'replicas must be an integer'
  if (replicas < MIN_REPLICAS) return `replicas must be >= ${MIN_REPLICAS}`
  if (replicas > MAX_REPLICAS) return `replicas must be <= ${MAX_REPLICAS} (use HPA for higher scale)`
  return undefined
}

function newImageViolation(image: unknown, facts: AdmissionFacts, rules: AdmissionRules): string | undefined {
  if (image === undefined) return 'image is required'
  if (typeof image !== 'string') return 'image must be a string'
  if (isBlank(image)) return 'image is required'
  const isExempt = !rules.policyOnRest && isOperatorWrite(facts, rules.operator)
  return isExempt ? undefined : imagePolicyViolation(image, rules.policy)
}

/**
 * Both must match. On a developer's machine the operator and kubectl are the same user, and the field manager tells them
 * apart; another user cannot pass for the operator by naming its field manager.
 */
function isOperatorWrite(facts: AdmissionFacts, operator: WriterIdentity | undefined): boolean {
  return operator !== undefined && facts.username === operator.username && facts.fieldManager === operator.fieldManager
}

function warningsFor(spec: JsonObject, image: unknown): readonly string[] {
  const resources = own(spec, 'resources')
  const limits = isJsonObject(resources) ? own(resources, 'limits') : undefined
  const isLimited = isJsonObject(limits) && Object.keys(limits).length > 0
  return [
    ...(isLimited ? [] : ['Resource limits are recommended for production workloads']),
    ...(typeof image === 'string' && isLatest(image) ? ['Using :latest tag is not recommended for production'] : []),
  ]
}

function specOf(object: JsonObject): JsonObject {
  const spec = own(object, 'spec')
  return isJsonObject(spec) ? spec : {}
}
