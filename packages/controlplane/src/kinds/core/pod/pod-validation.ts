import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, dnsSubdomain, qualifiedName } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, isUnset } from '../../../model/json.ts'
import {
  duplicate,
  forbidden,
  invalidEach,
  invalidValue,
  notSupported,
  required,
} from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { validateAnnotations, validateLabels } from '../../common/labels.ts'
import { mustBeBetween } from '../../common/names.ts'
import { validateVolumes } from '../volume/volume-validation.ts'
import { validateAffinity } from './affinity-validation.ts'
import { validateContainers } from './container-validation.ts'
import { validateDns, validateHostAliases, validatePodSecurity, validateSystem } from './pod-settings-validation.ts'
import { validateProfiles } from './seccomp-annotations.ts'

const MAX_INT32 = 2_147_483_647

export function validatePodSpec(spec: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const volumes = validateVolumes(asJsonObjects(spec['volumes']), `${field}.volumes`, errors)
  append(errors, validateContainers(spec, volumes, field))
  append(
    errors,
    oneOf(spec['restartPolicy'], `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    oneOf(spec['dnsPolicy'], `${field}.dnsPolicy`, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    validateLabels(spec['nodeSelector'], `${field}.nodeSelector`),
  )
  append(
    errors,
    validatePodSecurity(asJsonObject(spec['securityContext']), `${field}.securityContext`),
    validateAffinity(asJsonObject(spec['affinity']), `${field}.affinity`),
    validateDns(spec, field),
  )
  asJsonObjects(spec['readinessGates']).forEach(({ conditionType }, index) => {
    const path = `${field}.readinessGates[${index}].conditionType`
    errors.push(...invalidEach(path, conditionType, qualifiedName(asString(conditionType))))
  })
  append(errors, validateSchedulingGates(asJsonObjects(spec['schedulingGates']), `${field}.schedulingGates`))
  append(errors, validateSpread(asJsonObjects(spec['topologySpreadConstraints']), `${field}.topologySpreadConstraints`))
  for (const name of ['serviceAccountName', 'nodeName'] as const) {
    if (spec[name]) errors.push(...invalidEach(`${field}.${name}`, spec[name], dnsSubdomain(asString(spec[name]))))
  }
  const deadline = spec['activeDeadlineSeconds']
  if (typeof deadline === 'number' && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalidValue(`${field}.activeDeadlineSeconds`, deadline, mustBeBetween(1, MAX_INT32)))
  }
  for (const name of ['hostname', 'subdomain'] as const) {
    if (spec[name]) errors.push(...invalidEach(`${field}.${name}`, spec[name], dnsLabel(asString(spec[name]))))
  }
  append(errors, validateTolerations(asJsonObjects(spec['tolerations']), `${field}.tolerations`))
  append(errors, validateHostAliases(asJsonObjects(spec['hostAliases']), `${field}.hostAliases`))
  const { priorityClassName, preemptionPolicy } = spec
  if (priorityClassName) {
    errors.push(
      ...invalidEach(`${field}.priorityClassName`, priorityClassName, dnsSubdomain(asString(priorityClassName))),
    )
  }
  if (!isUnset(preemptionPolicy)) {
    errors.push(...oneOf(preemptionPolicy, `${field}.preemptionPolicy`, ['PreemptLowerPriority', 'Never']))
  }
  append(errors, validateSystem(spec['os'], `${field}.os`))
  return errors
}

/** Validates the pod template of a workload. */
export function validatePodTemplate(template: JsonObject, field: string): FieldError[] {
  const metadata = asJsonObject(template['metadata'])
  const spec = asJsonObject(template['spec'])
  const errors = [
    ...validateLabels(metadata['labels'], `${field}.labels`),
    ...validateAnnotations(metadata['annotations'], `${field}.annotations`),
    ...validateProfiles(metadata['annotations'], `${field}.annotations`),
    ...validatePodSpec(spec, `${field}.spec`),
  ]
  if (asJsonObjects(spec['ephemeralContainers']).length > 0) {
    errors.push(forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  }
  return errors
}

/** Validates a required enum value. */
export function oneOf(value: unknown, field: string, values: readonly string[]): FieldError[] {
  if (isUnset(value)) return [required(field)]
  return values.includes(asString(value)) ? [] : [notSupported(field, value, values)]
}

function validateSchedulingGates(gates: readonly JsonObject[], field: string): FieldError[] {
  const seen = new Set<unknown>()
  return gates.flatMap(({ name }, index) => {
    const errors = invalidEach(`${field}[${index}]`, name, qualifiedName(asString(name)))
    if (seen.has(name)) errors.push(duplicate(`${field}[${index}]`, name))
    seen.add(name)
    return errors
  })
}

function validateSpread(constraints: readonly JsonObject[], field: string): FieldError[] {
  return constraints.flatMap(({ maxSkew, topologyKey, whenUnsatisfiable }, index) => {
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (typeof maxSkew !== 'number' || maxSkew <= 0) {
      errors.push(invalidValue(`${path}.maxSkew`, maxSkew ?? 0, 'must be greater than zero'))
    }
    if (!topologyKey) errors.push(required(`${path}.topologyKey`, 'can not be empty'))
    const actions = ['DoNotSchedule', 'ScheduleAnyway']
    if (!actions.includes(asString(whenUnsatisfiable))) {
      errors.push(notSupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable ?? '', actions))
    }
    return errors
  })
}

export function validateTolerations(tolerations: readonly JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const { key, operator, value, effect, tolerationSeconds } = toleration
    const path = `${field}[${index}]`
    const errors: FieldError[] = []
    if (key) errors.push(...invalidEach(`${path}.key`, key, qualifiedName(asString(key))))
    else if (operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(invalidValue(`${path}.operator`, operator ?? '', detail))
    }
    if (!isUnset(tolerationSeconds) && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      errors.push(invalidValue(`${path}.effect`, effect ?? '', detail))
    }
    if (operator === 'Exists') {
      if (value) errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    } else if (operator !== 'Equal' && !isUnset(operator)) {
      errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']))
    }
    if (effect) {
      const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
      if (!effects.includes(asString(effect))) errors.push(notSupported(`${path}.effect`, effect, effects))
    }
    return errors
  })
}
