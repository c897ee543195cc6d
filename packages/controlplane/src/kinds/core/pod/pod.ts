import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects, filled, isSemanticallyEqual, isUnset, withField, withinField } from '../../../model/json.ts'
import { forbidden, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import type { KindTable } from '../../common/kind-table.ts'
import { mustBeBetween } from '../../common/names.ts'
import { isZero, nanosOf } from '../../common/quantity.ts'
import { podColumns } from './pod-columns.ts'
import { defaultPodOnly, defaultPodSpec } from './pod-defaults.ts'
import { validateImages } from './pod-settings-validation.ts'
import { validatePodSpec } from './pod-validation.ts'
import { warningsForPod } from './pod-warnings.ts'
import { validateProfiles } from './seccomp-annotations.ts'

export const PODS: KindTable = {
  pods: {
    columns: podColumns,
    rules: {
      warnings: warningsForPod,
      defaults: (pod) => withinField(pod, 'spec', (spec) => defaultPodOnly(defaultPodSpec(spec))),
      prepareForCreate: (pod) => {
        const gated = asJsonObjects(valueAtPath(pod, 'spec', 'schedulingGates')).length > 0
        const status = { phase: 'Pending', ...(gated && { conditions: [GATED_CONDITION] }), qosClass: qosClass(pod) }
        return withField(pod, 'status', status)
      },
      // The QoS class is kept if an update omits it.
      prepareForUpdate: (pod, old) => {
        const qosClass = valueAtPath(old, 'status', 'qosClass')
        return qosClass === undefined
          ? pod
          : withField(pod, 'status', filled(asJsonObject(pod['status']), { qosClass }))
      },
      validate: (pod) => [
        ...validateProfiles(valueAtPath(pod, 'metadata', 'annotations'), 'metadata.annotations'),
        ...validatePodSpec(asJsonObject(pod['spec']), 'spec'),
      ],
      validateNew: (pod) => [
        ...validateImages(asJsonObject(pod['spec']), 'spec'),
        ...(asJsonObjects(valueAtPath(pod, 'spec', 'ephemeralContainers')).length > 0
          ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')]
          : []),
      ],
      validateChange: (pod, old) => validateChange(asJsonObject(pod['spec']), asJsonObject(old['spec'])),
      selectableFields: {
        'spec.nodeName': (pod) => asString(valueAtPath(pod, 'spec', 'nodeName')),
        'spec.restartPolicy': (pod) => asString(valueAtPath(pod, 'spec', 'restartPolicy')),
        'spec.schedulerName': (pod) => asString(valueAtPath(pod, 'spec', 'schedulerName')),
        'spec.serviceAccountName': (pod) => asString(valueAtPath(pod, 'spec', 'serviceAccountName')),
        'spec.hostNetwork': (pod) => String(valueAtPath(pod, 'spec', 'hostNetwork') === true),
        'status.phase': (pod) => asString(valueAtPath(pod, 'status', 'phase')),
        'status.podIP': (pod) => asString(valueAtPath(pod, 'status', 'podIP')),
        'status.nominatedNodeName': (pod) => asString(valueAtPath(pod, 'status', 'nominatedNodeName')),
      },
      gracePeriod(pod) {
        // A pod that is not scheduled, or has finished, needs no grace period.
        const phase = valueAtPath(pod, 'status', 'phase')
        if (!valueAtPath(pod, 'spec', 'nodeName') || phase === 'Failed' || phase === 'Succeeded') return 0
        const seconds = valueAtPath(pod, 'spec', 'terminationGracePeriodSeconds')
        return typeof seconds === 'number' ? Math.max(seconds, 0) : 30
      },
      returnsDeletedObject: true,
    },
  },
}

const GATED_CONDITION = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
}

/** Returns the quality of service class, derived from requests and limits. */
export function qosClass(pod: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const spec = asJsonObject(pod['spec'])
  const containers = [...asJsonObjects(spec['containers']), ...asJsonObjects(spec['initContainers'])]
  let hasAny = false
  let isGuaranteed = true
  for (const container of containers) {
    for (const name of ['cpu', 'memory']) {
      const limit = valueAtPath(container, 'resources', 'limits', name)
      const request = valueAtPath(container, 'resources', 'requests', name)
      if ((limit !== undefined && !isZero(limit)) || (request !== undefined && !isZero(request))) hasAny = true
      const isSame = limit !== undefined && !isZero(limit) && nanosOf(limit) === nanosOf(request ?? limit)
      if (!isSame) isGuaranteed = false
    }
  }
  if (!hasAny) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

const MAX_INT32 = 2_147_483_647
const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

function validateChange(spec: JsonObject, old: JsonObject): FieldError[] {
  if (spec === old) return []
  const errors: FieldError[] = []
  for (const list of ['containers', 'initContainers']) {
    const containers = asJsonObjects(spec[list])
    if (containers.length !== asJsonObjects(old[list]).length) {
      return [...errors, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')]
    }
    containers.forEach(({ image }, index) => {
      const text = asString(image)
      const field = `spec.${list}[${index}].image`
      if (!text) errors.push(required(field))
      else if (text.trim() !== text) {
        errors.push(invalidValue(field, text, 'must not have leading or trailing whitespace'))
      }
    })
  }
  const deadline = validateDeadline(spec['activeDeadlineSeconds'], old['activeDeadlineSeconds'])
  if (deadline) errors.push(deadline)
  if (deadline && typeof spec['activeDeadlineSeconds'] === 'number') return errors
  append(errors, validateTolerationChange(asJsonObjects(spec['tolerations']), asJsonObjects(old['tolerations'])))
  const gates = asJsonObjects(spec['schedulingGates']).filter(
    ({ name }) => !asJsonObjects(old['schedulingGates']).some((gate) => gate['name'] === name),
  )
  if (gates.length > 0) {
    const detail = `only deletion is allowed, but found new scheduling gate '${asString(gates[0]?.['name'])}'`
    errors.push(forbidden('spec.schedulingGates', detail))
  }
  if (!isSemanticallyEqual(withoutChangeable(spec, old), old)) {
    errors.push(forbidden('spec', `pod updates may not change fields other than ${CHANGEABLE}\n`))
  }
  return errors
}

function validateDeadline(value: unknown, old: unknown): FieldError | undefined {
  const field = 'spec.activeDeadlineSeconds'
  if (typeof value === 'number') {
    if (value < 0 || value > MAX_INT32) return invalidValue(field, value, mustBeBetween(0, MAX_INT32))
    if (typeof old === 'number' && old < value) {
      return invalidValue(field, value, 'must be less than or equal to previous value')
    }
    return undefined
  }
  return isUnset(old) ? undefined : invalidValue(field, null, 'must not update from a positive integer to nil value')
}

const same = (a: JsonObject, b: JsonObject): boolean =>
  isSemanticallyEqual({ ...a, tolerationSeconds: undefined }, { ...b, tolerationSeconds: undefined })

function validateTolerationChange(tolerations: readonly JsonObject[], old: readonly JsonObject[]): FieldError[] {
  if (old.every((before) => tolerations.some((toleration) => same(toleration, before)))) return []
  return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

/** The new spec with the old values of the mutable fields; any remaining difference is an error. */
function withoutChangeable(spec: JsonObject, old: JsonObject): JsonObject {
  const withImages = (list: string): unknown =>
    asJsonObjects(spec[list]).map((container, index) =>
      withField(container, 'image', asJsonObjects(old[list])[index]?.['image']),
    )
  const grace = old['terminationGracePeriodSeconds']
  const isRepaired = typeof grace === 'number' && grace < 0 && spec['terminationGracePeriodSeconds'] === 1
  return {
    ...spec,
    containers: withImages('containers'),
    initContainers: withImages('initContainers'),
    activeDeadlineSeconds: old['activeDeadlineSeconds'],
    schedulingGates: old['schedulingGates'],
    tolerations: old['tolerations'],
    ...(isRepaired && { terminationGracePeriodSeconds: grace }),
  }
}
