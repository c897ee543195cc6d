import { imageObjection, isLatest, type ImagePolicy } from './image-policy.ts'
import { isRecord, own } from '../validation/schema.ts'
import { writtenApplication, type AdmissionFacts } from './request.ts'

/** Who the operator is to the API server; undefined as long as that is not known. */
export interface OperatorIdentity {
  readonly username: string
  readonly fieldManager: string
}

export interface AdmissionRules {
  readonly policy: ImagePolicy
  /**
   * Hold the image policy against what comes through the operator's own HTTP API too. Default false: there it is off,
   * and only kubectl, and everybody else who talks to the API server, is held to it.
   */
  readonly policyOnRest?: boolean | undefined
  /** Whose writes those of the HTTP API are. Default: unknown, so that nobody's are excepted. */
  readonly operator?: OperatorIdentity | undefined
}

export interface Judgement {
  /** Why the request is refused; undefined if it is not. */
  readonly denied: string | undefined
  readonly warnings: readonly string[]
}

const FEWEST_REPLICAS = 0
const MOST_REPLICAS = 100
const PASSED: Judgement = { denied: undefined, warnings: [] }

/**
 * Says whether an Application may be written. Values that an UPDATE leaves as they are, are not judged again, and an
 * object that is going away is not judged at all: whatever was let in once, or was there before the policy, can still
 * be labelled, finished off and deleted, by us and by everybody.
 */
export function judge(facts: AdmissionFacts, rules: AdmissionRules): Judgement {
  const { oldObject } = facts
  const object = writtenApplication(facts)
  if (!object) return PASSED
  const spec = specOf(object)
  const before = facts.operation === 'UPDATE' && oldObject ? specOf(oldObject) : undefined
  const image = own(spec, 'image')
  const isSameImage = before !== undefined && own(before, 'image') === image
  const isSameReplicas = before !== undefined && own(before, 'replicas') === own(spec, 'replicas')
  const denied =
    (isSameReplicas ? undefined : replicasObjection(own(spec, 'replicas'))) ??
    (isSameImage ? undefined : newImageObjection(image, facts, rules))
  return { denied, warnings: denied === undefined ? warningsFor(spec, image) : [] }
}

function replicasObjection(replicas: unknown): string | undefined {
  // A missing one is the schema's business.
  if (replicas === undefined) return undefined
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) return 'replicas must be an integer'
  if (replicas < FEWEST_REPLICAS) return `replicas must be >= ${FEWEST_REPLICAS}`
  if (replicas > MOST_REPLICAS) return `replicas must be <= ${MOST_REPLICAS} (use HPA for higher scale)`
  return undefined
}

function newImageObjection(image: unknown, facts: AdmissionFacts, rules: AdmissionRules): string | undefined {
  if (image === undefined || image === '') return 'image is required'
  if (typeof image !== 'string') return 'image must be a string'
  const isExcepted = !rules.policyOnRest && isOurs(facts, rules.operator)
  return isExcepted ? undefined : imageObjection(image, rules.policy)
}

/**
 * Both must fit: where the operator runs as the same user as kubectl, as it does on a developer's machine, the field
 * manager tells the two apart; and who is not that user can not pass for the operator by naming its field manager.
 */
function isOurs(facts: AdmissionFacts, operator: OperatorIdentity | undefined): boolean {
  return operator !== undefined && facts.username === operator.username && facts.fieldManager === operator.fieldManager
}

function warningsFor(spec: Readonly<Record<string, unknown>>, image: unknown): readonly string[] {
  const resources = own(spec, 'resources')
  const limits = isRecord(resources) ? own(resources, 'limits') : undefined
  const isLimited = isRecord(limits) && Object.keys(limits).length > 0
  return [
    ...(isLimited ? [] : ['Resource limits are recommended for production workloads']),
    ...(typeof image === 'string' && isLatest(image) ? ['Using :latest tag is not recommended for production'] : []),
  ]
}

/** The spec; an object without one has an empty one. */
function specOf(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const spec = own(object, 'spec')
  return isRecord(spec) ? spec : {}
}
