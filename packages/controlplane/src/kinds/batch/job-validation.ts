import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asNumber, isAbsent, isUnset, withField } from '../../model/json.ts'
import { invalidStruct, invalidValue, notNegative, notSupported, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { nameOf } from '../common/columns.ts'
import { validateDomainPath } from '../common/domain-path.ts'
import { matcherOf, validateSelector } from '../common/selectors.ts'
import { validatePodTemplate } from '../core/pod/pod-validation.ts'
import { validateFailurePolicy, validateReplacementPolicy, validateSuccessPolicy } from './job-policies.ts'

export const CONTROLLER_UID_LABEL = 'batch.kubernetes.io/controller-uid'
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name'

export function validateJob(job: JsonObject): FieldError[] {
  const spec = asJsonObject(job['spec'])
  return [...validateGenerated(job), ...validateJobSpec(spec, 'spec', true), ...validateHostnames(job)]
}

/** The name of the last pod, which is the longest, must be a DNS label. */
function validateHostnames(job: JsonObject): FieldError[] {
  const { completionMode, completions } = asJsonObject(job['spec'])
  if (completionMode !== 'Indexed' || asNumber(completions) <= 0) return []
  const name = nameOf(job)
  const longest = `${name}-${asNumber(completions) - 1}`
  if (dnsLabel(longest).length === 0) return []
  const detail = `will not able to create pod with invalid DNS label: ${longest}`
  return [invalidValue('metadata.name', name, detail)]
}

function validateGenerated(job: JsonObject): FieldError[] {
  const selector = valueAtPath(job, 'spec', 'selector')
  if (valueAtPath(job, 'spec', 'manualSelector') === true || !isJsonObject(selector)) return []
  const { name, uid } = asJsonObject(job['metadata'])
  const expected: JsonObject = {
    'controller-uid': uid,
    'job-name': name,
    [CONTROLLER_UID_LABEL]: uid,
    [JOB_NAME_LABEL]: name,
  }
  const labels = asJsonObject(valueAtPath(job, 'spec', 'template', 'metadata', 'labels'))
  const errors = Object.entries(expected).flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`
    if (!Object.hasOwn(labels, key)) return [required(field, `must be '${asString(value)}'`)]
    return labels[key] === value ? [] : [invalidValue(field, labels, `must be '${asString(value)}'`)]
  })
  if (matcherOf(selector)?.(expected) !== false) return errors
  return [...errors, invalidStruct('spec.selector', ordered(selector), '`selector` not auto-generated')]
}

/** The selector with sorted labels, as Go prints it. */
function ordered(selector: JsonObject): JsonObject {
  const labels = Object.entries(asJsonObject(selector['matchLabels'])).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { matchLabels: Object.fromEntries(labels), ...withField(selector, 'matchLabels', undefined) }
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
]

/** Above this many completions, parallelism and failed indexes are limited to `MAX_WITH_MANY_COMPLETIONS`. */
const COMPLETIONS_THRESHOLD = 100_000
const MAX_PARALLELISM = 100_000
const MAX_FAILED_INDEXES = 100_000
const MAX_WITH_MANY_COMPLETIONS = 10_000
const MAX_MANAGER_LENGTH = 63

function validateIndexed(spec: JsonObject, field: string): FieldError[] {
  const { completions, parallelism, backoffLimitPerIndex, maxFailedIndexes } = spec
  const [all, parallel, failed] = [asNumber(completions), asNumber(parallelism), asNumber(maxFailedIndexes)]
  const errors: FieldError[] = []
  const atMost = (name: string, value: number, most: number | 'completions', when = ''): void => {
    if (value <= (most === 'completions' ? all : most)) return
    errors.push(invalidValue(`${field}.${name}`, value, `must be less than or equal to ${most}${when}`))
  }
  if (isAbsent(completions)) errors.push(required(`${field}.completions`, 'when completion mode is Indexed'))
  atMost('parallelism', parallel, MAX_PARALLELISM, ' when completion mode is Indexed')
  if (!isAbsent(completions)) atMost('maxFailedIndexes', failed, 'completions')
  atMost('maxFailedIndexes', failed, MAX_FAILED_INDEXES)
  if (all <= COMPLETIONS_THRESHOLD || isAbsent(backoffLimitPerIndex)) return errors
  if (isAbsent(maxFailedIndexes)) {
    const detail = `must be specified when completions is above ${COMPLETIONS_THRESHOLD}`
    errors.push(required(`${field}.maxFailedIndexes`, detail))
  }
  const when = ` when completions are above ${COMPLETIONS_THRESHOLD} and used with backoff limit per index`
  atMost('parallelism', parallel, MAX_WITH_MANY_COMPLETIONS, when)
  atMost('maxFailedIndexes', failed, MAX_WITH_MANY_COMPLETIONS, when)
  return errors
}

export function validateJobSpec(spec: JsonObject, field: string, hasSelector: boolean): FieldError[] {
  const errors = COUNTS.flatMap((name) => notNegative(`${field}.${name}`, spec[name]))
  const { completionMode, backoffLimitPerIndex, maxFailedIndexes, managedBy } = spec
  if (!isAbsent(maxFailedIndexes) && isAbsent(backoffLimitPerIndex)) {
    errors.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  }
  if (typeof managedBy === 'string') {
    append(errors, validateDomainPath(managedBy, `${field}.managedBy`))
    if (managedBy.length > MAX_MANAGER_LENGTH) errors.push(tooLong(`${field}.managedBy`, MAX_MANAGER_LENGTH))
  }
  const modes = ['NonIndexed', 'Indexed']
  if (!isAbsent(completionMode) && !modes.includes(asString(completionMode))) {
    errors.push(notSupported(`${field}.completionMode`, completionMode, modes))
  }
  if (completionMode === 'Indexed') append(errors, validateIndexed(spec, field))
  if (isAbsent(completionMode) || completionMode === 'NonIndexed') {
    for (const [name, value] of Object.entries({ backoffLimitPerIndex, maxFailedIndexes })) {
      if (!isAbsent(value)) errors.push(invalidValue(`${field}.${name}`, value, 'requires indexed completion mode'))
    }
  }
  if (isJsonObject(spec['podFailurePolicy'])) append(errors, validateFailurePolicy(spec, `${field}.podFailurePolicy`))
  if (isJsonObject(spec['successPolicy'])) append(errors, validateSuccessPolicy(spec, `${field}.successPolicy`))
  append(errors, validateReplacementPolicy(spec, `${field}.podReplacementPolicy`))
  const template = asJsonObject(spec['template'])
  append(errors, validatePodTemplate(template, `${field}.template`))
  const policyField = `${field}.template.spec.restartPolicy`
  const policy = valueAtPath(template, 'spec', 'restartPolicy')
  const policies = ['OnFailure', 'Never']
  if (isUnset(policy) || policy === 'Always') errors.push(required(policyField, 'valid values: "OnFailure", "Never"'))
  else if (!policies.includes(asString(policy))) errors.push(notSupported(policyField, policy, policies))
  else if (isJsonObject(spec['podFailurePolicy']) && policy !== 'Never') {
    errors.push(invalidValue(policyField, policy, 'only "Never" is supported when podFailurePolicy is specified'))
  }
  if (!hasSelector) return errors
  const selector = isJsonObject(spec['selector']) ? (spec['selector'] as LabelSelector) : undefined
  if (!selector) errors.push(required(`${field}.selector`))
  else append(errors, validateSelector(selector, `${field}.selector`))
  const labels = valueAtPath(template, 'metadata', 'labels')
  if (matcherOf(selector)?.(labels) === false) {
    const detail = '`selector` does not match template `labels`'
    errors.push(invalidValue(`${field}.template.metadata.labels`, labels ?? null, detail))
  }
  return errors
}
