import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition } from '../../model/conditions.ts'
import { asJsonObjects, isAbsent, isSemanticallyEqual, withField } from '../../model/json.ts'
import { immutable, invalidStruct, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { unchanged } from '../common/labels.ts'
import { shownFailurePolicy, shownSuccessPolicy } from './job-policies.ts'
import { validateJobSpec } from './job-validation.ts'

export function validateJobChange(job: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [asJsonObject(job['spec']), asJsonObject(old['spec'])]
  const same = (name: string): FieldError[] => unchanged(`spec.${name}`, spec[name], before[name])
  return [
    // kube-apiserver validates the spec twice and reports each error twice.
    ...validateJobSpec(spec, 'spec', true),
    ...validateCompletions(spec, before),
    ...same('selector'),
    ...validateTemplateChange(job, old),
    ...same('completionMode'),
    ...unchangedPolicy('spec.podFailurePolicy', spec, before, shownFailurePolicy),
    ...same('backoffLimitPerIndex'),
    ...same('managedBy'),
    ...unchangedPolicy('spec.successPolicy', spec, before, shownSuccessPolicy),
  ]
}

function validateCompletions(spec: JsonObject, before: JsonObject): FieldError[] {
  const { completions, parallelism } = spec
  if (spec['completionMode'] !== 'Indexed') return unchanged('spec.completions', completions, before['completions'])
  const isSame = isSemanticallyEqual(completions, before['completions'])
  if (isSame || isAbsent(completions) || completions === parallelism) return []
  return [invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')]
}

function unchangedPolicy(
  field: string,
  spec: JsonObject,
  before: JsonObject,
  shown: (policy: JsonObject) => JsonObject,
): FieldError[] {
  const name = field.slice('spec.'.length)
  const [policy, old] = [spec[name], before[name]]
  if (isSemanticallyEqual(policy, old)) return []
  return [isJsonObject(policy) ? invalidStruct(field, shown(policy), 'field is immutable') : immutable(field, null)]
}

/** Scheduling fields and resources may change while the Job is suspended and has no active pods. */
function validateTemplateChange(job: JsonObject, old: JsonObject): FieldError[] {
  const [template, before] = [
    asJsonObject(valueAtPath(job, 'spec', 'template')),
    asJsonObject(valueAtPath(old, 'spec', 'template')),
  ]
  const { startTime, active } = asJsonObject(old['status'])
  const isIdle = (isAbsent(startTime) || hasCondition(old, 'Suspended')) && !active
  if (valueAtPath(old, 'spec', 'suspend') !== true || !isIdle) return unchanged('spec.template', template, before)
  const allowed = asScheduled(asJsonObject(template['spec']), asJsonObject(before['spec']))
  return unchanged('spec.template.spec', template['spec'], allowed)
}

/** The old template with the new values of the mutable scheduling fields. */
function asScheduled(spec: JsonObject, before: JsonObject): JsonObject {
  const { nodeSelector, tolerations, schedulingGates, affinity, containers, initContainers } = spec
  return {
    ...before,
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity: withNodeAffinity(before['affinity'], affinity),
    containers: withResources(before['containers'], containers),
    initContainers: withResources(before['initContainers'], initContainers),
  }
}

/** Node affinity is mutable; pod affinity is not. */
function withNodeAffinity(before: unknown, now: unknown): unknown {
  const affinity = { ...asJsonObject(before), nodeAffinity: asJsonObject(now)['nodeAffinity'] }
  return isJsonObject(before) || isJsonObject(now) ? affinity : before
}

function withResources(before: unknown, now: unknown): unknown {
  const [list, old] = [asJsonObjects(now), asJsonObjects(before)]
  if (list.length !== old.length) return before
  return old.map((container, index) => {
    const next = asJsonObject(list[index])
    return next['name'] === container['name'] ? withField(container, 'resources', next['resources']) : container
  })
}
