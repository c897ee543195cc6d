import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject, pathSegment } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, asNumber, isAbsent } from '../../model/json.ts'
import { forbidden, invalidEach, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { nanosOf } from '../common/quantity.ts'

/** Validates an autoscaler of v2, the stored version. */
export function validateAutoscaler(object: JsonObject): FieldError[] {
  const spec = asJsonObject(object['spec'])
  const { minReplicas, behavior } = spec
  const errors = [...validateCounts(spec), ...validateTarget(asJsonObject(spec['scaleTargetRef']))]
  const metrics = asJsonObjects(spec['metrics'])
  metrics.forEach((metric, index) => append(errors, validateMetric(metric, `spec.metrics[${index}]`)))
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas'
    errors.push(forbidden('spec.metrics', detail))
  }
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = asJsonObject(behavior)[direction]
    if (isJsonObject(rules)) append(errors, validateRules(rules, `spec.behavior.${direction}`))
  }
  return errors
}

function validateCounts({ minReplicas, maxReplicas }: JsonObject): FieldError[] {
  const most = asNumber(maxReplicas)
  const errors: FieldError[] = []
  if (typeof minReplicas === 'number' && minReplicas < 1) {
    errors.push(invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'))
  }
  if (most === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  else if (most < 0) errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to 1'))
  if (typeof minReplicas === 'number' && most < minReplicas) {
    errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'))
  }
  return errors
}

function validateTarget(target: JsonObject): FieldError[] {
  const field = 'spec.scaleTargetRef'
  const errors = validateReference(target, field)
  const version = asString(target['apiVersion'])
  // Only a ReplicationController, in the core group, has no API group.
  if (!version.includes('/') && !(version === 'v1' && target['kind'] === 'ReplicationController')) {
    errors.push(invalidValue(`${field}.apiVersion`, version, 'apiVersion must specify API group'))
  }
  return errors
}

function validateReference(reference: JsonObject, field: string): FieldError[] {
  const errors = ['kind', 'name'].flatMap((name) => {
    const text = asString(reference[name])
    return text ? invalidEach(`${field}.${name}`, text, pathSegment(text)) : [required(`${field}.${name}`)]
  })
  const version = asString(reference['apiVersion'])
  if (version.split('/').length > 2) {
    errors.push(invalidValue(`${field}.apiVersion`, version, `unexpected GroupVersion string: ${version}`))
  }
  return errors
}

const TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

interface Source {
  readonly type: string
  readonly field: string
  readonly validate: (source: JsonObject, field: string) => FieldError[]
}

/** In the order in which kube-apiserver checks them. */
const SOURCES: readonly Source[] = [
  { type: 'Object', field: 'object', validate: validateObjectSource },
  { type: 'External', field: 'external', validate: validateExternalSource },
  { type: 'Pods', field: 'pods', validate: validatePodsSource },
  { type: 'Resource', field: 'resource', validate: validateResourceSource },
  { type: 'ContainerResource', field: 'containerResource', validate: validateContainerSource },
]

function validateMetric(metric: JsonObject, field: string): FieldError[] {
  const type = asString(metric['type'])
  const errors: FieldError[] = []
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric source type'))
  if (!TYPES.includes(type)) errors.push(notSupported(`${field}.type`, type, TYPES))
  const present = SOURCES.filter((source) => isJsonObject(metric[source.field]))
  // Only the first is validated; having several is reported as an error anyway.
  const [first] = present
  if (first) append(errors, first.validate(asJsonObject(metric[first.field]), `${field}.${first.field}`))
  const expected = SOURCES.find((source) => source.type === type)
  if (expected && !present.includes(expected)) {
    errors.push(required(`${field}.${expected.field}`, 'must populate information for the given metric source'))
  }
  if (present.length === 1) return errors
  const others = present.filter((source) => source !== expected)
  const detail = 'must populate the given metric source only'
  return [...errors, ...others.map((source) => forbidden(`${field}.${source.field}`, detail))]
}

function validateObjectSource({ describedObject, metric, target }: JsonObject, field: string): FieldError[] {
  const { value, averageValue } = asJsonObject(target)
  const errors = [
    ...validateReference(asJsonObject(describedObject), `${field}.describedObject`),
    ...validateIdentifier(asJsonObject(metric), `${field}.metric`),
    ...validateMetricTarget(asJsonObject(target), `${field}.target`),
  ]
  if (!isAbsent(value) || !isAbsent(averageValue)) return errors
  return [...errors, required(`${field}.target.averageValue`, 'must set either a target value or averageValue')]
}

function validateExternalSource({ metric, target }: JsonObject, field: string): FieldError[] {
  const { value, averageValue } = asJsonObject(target)
  const errors = [
    ...validateIdentifier(asJsonObject(metric), `${field}.metric`),
    ...validateMetricTarget(asJsonObject(target), `${field}.target`),
  ]
  if (isAbsent(value) && isAbsent(averageValue)) {
    const detail = 'must set either a target value for metric or a per-pod target'
    errors.push(required(`${field}.target.averageValue`, detail))
  }
  if (!isAbsent(value) && !isAbsent(averageValue)) {
    const detail = 'may not set both a target value for metric and a per-pod target'
    errors.push(forbidden(`${field}.target.value`, detail))
  }
  return errors
}

function validatePodsSource({ metric, target }: JsonObject, field: string): FieldError[] {
  const errors = [
    ...validateIdentifier(asJsonObject(metric), `${field}.metric`),
    ...validateMetricTarget(asJsonObject(target), `${field}.target`),
  ]
  if (!isAbsent(asJsonObject(target)['averageValue'])) return errors
  return [...errors, required(`${field}.target.averageValue`, 'must specify a positive target averageValue')]
}

function validateContainerSource(source: JsonObject, field: string): FieldError[] {
  const container = asString(source['container'])
  const named = container
    ? invalidEach(`${field}.container`, container, dnsLabel(container))
    : [required(`${field}.container`, 'must specify a container')]
  return [
    ...resourceName(source, field),
    ...named,
    ...resourceTarget(asJsonObject(source['target']), `${field}.target`),
  ]
}

function validateResourceSource(source: JsonObject, field: string): FieldError[] {
  return [...resourceName(source, field), ...resourceTarget(asJsonObject(source['target']), `${field}.target`)]
}

const resourceName = ({ name }: JsonObject, field: string): FieldError[] =>
  name ? [] : [required(`${field}.name`, 'must specify a resource name')]

function resourceTarget(target: JsonObject, field: string): FieldError[] {
  const { averageUtilization, averageValue } = target
  const errors = validateMetricTarget(target, field)
  if (isAbsent(averageUtilization) && isAbsent(averageValue)) {
    const detail = 'must set either a target raw value or a target utilization'
    errors.push(required(`${field}.averageUtilization`, detail))
  }
  if (!isAbsent(averageUtilization) && !isAbsent(averageValue)) {
    const detail = 'may not set both a target raw value and a target utilization'
    errors.push(forbidden(`${field}.averageValue`, detail))
  }
  return errors
}

function validateIdentifier({ name }: JsonObject, field: string): FieldError[] {
  const text = asString(name)
  if (text === '') return [required(`${field}.name`, 'must specify a metric name')]
  return invalidEach(`${field}.name`, text, pathSegment(text))
}

const TARGETS = ['Utilization', 'Value', 'AverageValue']

function validateMetricTarget(target: JsonObject, field: string): FieldError[] {
  const type = asString(target['type'])
  const errors: FieldError[] = []
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric target type'))
  if (!TARGETS.includes(type)) {
    errors.push(invalidValue(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue'))
  }
  for (const name of ['value', 'averageValue']) {
    if (!isAbsent(target[name]) && nanosOf(target[name]) <= 0n) {
      errors.push(invalidValue(`${field}.${name}`, target[name], 'must be positive'))
    }
  }
  const utilization = target['averageUtilization']
  if (typeof utilization === 'number' && utilization < 1) {
    errors.push(invalidValue(`${field}.averageUtilization`, utilization, 'must be greater than 0'))
  }
  return errors
}

const SELECT_POLICIES = ['Disabled', 'Max', 'Min']
const POLICIES = ['Percent', 'Pods']
const MAX_STABILIZATION_WINDOW_SECONDS = 3600
const MAX_POLICY_PERIOD_SECONDS = 1800

function validateRules(rules: JsonObject, field: string): FieldError[] {
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies, tolerance } = rules
  const errors: FieldError[] = []
  if (typeof seconds === 'number') {
    const place = `${field}.stabilizationWindowSeconds`
    if (seconds < 0) errors.push(invalidValue(place, seconds, 'must be greater than or equal to zero'))
    if (seconds > MAX_STABILIZATION_WINDOW_SECONDS) {
      errors.push(invalidValue(place, seconds, `must be less than or equal to ${MAX_STABILIZATION_WINDOW_SECONDS}`))
    }
  }
  if (!isAbsent(selectPolicy) && !SELECT_POLICIES.includes(asString(selectPolicy))) {
    errors.push(notSupported(`${field}.selectPolicy`, selectPolicy, SELECT_POLICIES))
  }
  const list = asJsonObjects(policies)
  if (list.length === 0) errors.push(required(`${field}.policies`, 'must specify at least one Policy'))
  list.forEach((policy, index) => append(errors, validateScalingPolicy(policy, `${field}.policies[${index}]`)))
  if (!isAbsent(tolerance) && nanosOf(tolerance) < 0n) {
    errors.push(invalidValue(`${field}.tolerance`, tolerance, 'must be greater than or equal to 0'))
  }
  return errors
}

function validateScalingPolicy({ type, value, periodSeconds }: JsonObject, field: string): FieldError[] {
  const [amount, period] = [asNumber(value), asNumber(periodSeconds)]
  const errors: FieldError[] = []
  if (!POLICIES.includes(asString(type))) errors.push(notSupported(`${field}.type`, type ?? '', POLICIES))
  if (amount <= 0) errors.push(invalidValue(`${field}.value`, amount, 'must be greater than zero'))
  if (period <= 0) errors.push(invalidValue(`${field}.periodSeconds`, period, 'must be greater than zero'))
  if (period > MAX_POLICY_PERIOD_SECONDS) {
    errors.push(
      invalidValue(`${field}.periodSeconds`, period, `must be less than or equal to ${MAX_POLICY_PERIOD_SECONDS}`),
    )
  }
  return errors
}
