import type { Json } from '../../model/json.ts'
import { asNumber, asText, filled } from '../../model/json.ts'
import type { FieldError } from '../../schema/types.ts'
import type { KindTable } from '../common/kind-table.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { forbiddenField, notSupported, required } from '../common/field-errors.ts'
import { unchanged } from '../common/labels.ts'

const HIGHEST_PRIORITY = 1_000_000_000

/** These exist in every cluster. */
export const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']

export const SCHEDULING: KindTable = {
  'priorityclasses.scheduling.k8s.io': {
    cells: (priority, age) => [
      nameOf(priority),
      asNumber(priority['value']),
      priority['globalDefault'] === true,
      age(createdAt(priority)),
      asText(priority['preemptionPolicy']),
    ],
    rules: {
      defaults: (priority) => filled(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
      validate: validatePriority,
      validateUpdate: (priority, old) => [
        ...(priority['value'] === old['value'] ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
        ...unchanged('preemptionPolicy', priority['preemptionPolicy'], old['preemptionPolicy']),
      ],
    },
  },
}

function validatePriority(priority: Json): FieldError[] {
  const { value, preemptionPolicy: policy } = priority
  const wrong: FieldError[] = []
  const name = nameOf(priority)
  if (name.startsWith('system-')) wrong.push(...validateSystemPriority(name, asNumber(value)))
  else if (asNumber(value) > HIGHEST_PRIORITY) {
    wrong.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`))
  }
  if (policy === '') wrong.push(required('preemptionPolicy'))
  else if (typeof policy === 'string' && !PREEMPTION_POLICIES.includes(policy)) {
    wrong.push(notSupported('preemptionPolicy', policy, PREEMPTION_POLICIES))
  }
  return wrong
}

function validateSystemPriority(name: string, value: number): FieldError[] {
  const known = SYSTEM_PRIORITIES.get(name)
  if (known === value) return []
  const why =
    known === undefined
      ? `${name} is not a known system priority class`
      : `value of ${name} PriorityClass must be ${known}`
  const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`
  return [forbiddenField('metadata.name', detail)]
}
