import type { JsonObject } from '@tenure/kube/model'
import { asString } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asNumber, filled } from '../../model/json.ts'
import { forbidden, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

const MAX_USER_PRIORITY = 1_000_000_000

/** Priority classes that exist in every cluster. */
export const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']

export const SCHEDULING: KindTable = {
  'priorityclasses.scheduling.k8s.io': {
    columns: (priority, age) => [
      nameOf(priority),
      asNumber(priority['value']),
      priority['globalDefault'] === true,
      age(createdAt(priority)),
      asString(priority['preemptionPolicy']),
    ],
    rules: {
      defaults: (priority) => filled(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
      validate: validatePriority,
      validateUpdate: (priority, old) => [
        ...(priority['value'] === old['value'] ? [] : [forbidden('value', 'may not be changed in an update.')]),
        ...unchanged('preemptionPolicy', priority['preemptionPolicy'], old['preemptionPolicy']),
      ],
    },
  },
}

function validatePriority(priority: JsonObject): FieldError[] {
  const { value, preemptionPolicy: policy } = priority
  const errors: FieldError[] = []
  const name = nameOf(priority)
  if (name.startsWith('system-')) append(errors, validateSystemPriority(name, asNumber(value)))
  else if (asNumber(value) > MAX_USER_PRIORITY) {
    errors.push(forbidden('value', `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`))
  }
  if (policy === '') errors.push(required('preemptionPolicy'))
  else if (typeof policy === 'string' && !PREEMPTION_POLICIES.includes(policy)) {
    errors.push(notSupported('preemptionPolicy', policy, PREEMPTION_POLICIES))
  }
  return errors
}

function validateSystemPriority(name: string, value: number): FieldError[] {
  const known = SYSTEM_PRIORITIES.get(name)
  if (known === value) return []
  const why =
    known === undefined
      ? `${name} is not a known system priority class`
      : `value of ${name} PriorityClass must be ${known}`
  const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`
  return [forbidden('metadata.name', detail)]
}
