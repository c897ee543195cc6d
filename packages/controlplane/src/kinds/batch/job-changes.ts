import { hasCondition } from '../../model/conditions.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asJsons, at, isAbsent, isJson, isSemanticallyEqual, withField } from '../../model/json.ts'
import { immutable, invalidStruct, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { unchanged } from '../common/labels.ts'
import { shownFailurePolicy, shownSuccessPolicy } from './job-policies.ts'
import { validateJobSpec } from './job-validation.ts'

export function validateJobChange(job: Json, old: Json): FieldError[] {
  const [spec, before] = [asJson(job['spec']), asJson(old['spec'])]
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

function validateCompletions(spec: Json, before: Json): FieldError[] {
  const { completions, parallelism } = spec
  if (spec['completionMode'] !== 'Indexed') return unchanged('spec.completions', completions, before['completions'])
  const isSame = isSemanticallyEqual(completions, before['completions'])
  if (isSame || isAbsent(completions) || completions === parallelism) return []
  return [invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')]
}

function unchangedPolicy(field: string, spec: Json, before: Json, shown: (policy: Json) => Json): FieldError[] {
  const name = field.slice('spec.'.length)
  const [policy, old] = [spec[name], before[name]]
  if (isSemanticallyEqual(policy, old)) return []
  return [isJson(policy) ? invalidStruct(field, shown(policy), 'field is immutable') : immutable(field, null)]
}

/** Scheduling fields and resources may change while the Job is suspended and has no active pods. */
function validateTemplateChange(job: Json, old: Json): FieldError[] {
  const [template, before] = [asJson(at(job, 'spec', 'template')), asJson(at(old, 'spec', 'template'))]
  const { startTime, active } = asJson(old['status'])
  const isIdle = (isAbsent(startTime) || hasCondition(old, 'Suspended')) && !active
  if (at(old, 'spec', 'suspend') !== true || !isIdle) return unchanged('spec.template', template, before)
  const allowed = asScheduled(asJson(template['spec']), asJson(before['spec']))
  return unchanged('spec.template.spec', template['spec'], allowed)
}

/** The old template with the new values of the mutable scheduling fields. */
function asScheduled(spec: Json, before: Json): Json {
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
  const affinity = { ...asJson(before), nodeAffinity: asJson(now)['nodeAffinity'] }
  return isJson(before) || isJson(now) ? affinity : before
}

function withResources(before: unknown, now: unknown): unknown {
  const [list, old] = [asJsons(now), asJsons(before)]
  if (list.length !== old.length) return before
  return old.map((container, index) => {
    const next = asJson(list[index])
    return next['name'] === container['name'] ? withField(container, 'resources', next['resources']) : container
  })
}
