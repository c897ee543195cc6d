import type { LabelSelector } from '@tenure/kube'

import type { FieldError } from '../schema/types.ts'
import { conditionOf, createdAt, nameAndAge, nameOf } from './common/columns.ts'
import { forbiddenField, invalidStruct, invalidValue, notSupported, required } from './common/field-errors.ts'
import { validateIntOrPercent, validateNotAbove100 } from './common/int-or-percent.ts'
import type { Json } from '../model/json.ts'
import { asJson, asJsons, asList, asNumber, asText, at, filled, isJson, isUnset, withinField } from '../model/json.ts'
import type { KindTable } from './common/kind-table.ts'
import { unchanged } from './common/labels.ts'
import { adviseOnRuntimeClass, validateRuntimeClass } from './node/runtime-class.ts'
import { validateSelector } from './common/selectors.ts'

const HIGHEST_PRIORITY = 1_000_000_000

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : asText(value) || 'N/A')

/** Kinds with little to say of themselves. */
export const SMALL_KINDS: KindTable = {
  'leases.coordination.k8s.io': {
    cells: (lease, age) => [nameOf(lease), asText(at(lease, 'spec', 'holderIdentity')), age(createdAt(lease))],
    rules: { generation: false, allowsCreateOnUpdate: true, validate: validateLease },
  },
  'poddisruptionbudgets.policy': {
    cells: (budget, age) => {
      const { minAvailable, maxUnavailable } = asJson(budget['spec'])
      const allowed = asNumber(at(budget, 'status', 'disruptionsAllowed'))
      return [nameOf(budget), shown(minAvailable), shown(maxUnavailable), allowed, age(createdAt(budget))]
    },
    rules: {
      newStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      validate: (budget) => validateBudget(asJson(budget['spec'])),
    },
  },
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
  'runtimeclasses.node.k8s.io': {
    cells: (runtime, age) => [nameOf(runtime), asText(runtime['handler']), age(createdAt(runtime))],
    rules: {
      generation: false,
      allowsCreateOnUpdate: true,
      advise: adviseOnRuntimeClass,
      validate: validateRuntimeClass,
      validateChange: (runtime, old) => unchanged('handler', runtime['handler'] ?? '', old['handler']),
    },
  },
  'apiservices.apiregistration.k8s.io': {
    cells: (service, age) => {
      const { namespace, name } = asJson(at(service, 'spec', 'service'))
      const available = conditionOf(service, 'Available')
      const isAvailable = available?.['status'] === 'True'
      const why = asText(available?.['reason'])
      const status = available
        ? isAvailable
          ? 'True'
          : `${asText(available['status'])}${why && ` (${why})`}`
        : 'Unknown'
      return [nameOf(service), name ? `${asText(namespace)}/${asText(name)}` : 'Local', status, age(createdAt(service))]
    },
    rules: {
      generation: false,
      defaults: (service) =>
        withinField(service, 'spec', (spec) => withinField(spec, 'service', (ref) => filled(ref, { port: 443 }))),
      validate: (service) => {
        const { group, version } = asJson(service['spec'])
        const expected = `${asText(version)}.${asText(group)}`
        if (nameOf(service) === expected) return []
        return [
          invalidValue('metadata.name', nameOf(service), `must be \`spec.version+"."+spec.group\`: "${expected}"`),
        ]
      },
    },
  },
  'certificatesigningrequests.certificates.k8s.io': {
    cells: (request, age) => {
      const { signerName, username, expirationSeconds } = asJson(request['spec'])
      const conditions = asJsons(at(request, 'status', 'conditions')).map(({ type }) => asText(type))
      const state = ['Approved', 'Denied', 'Failed'].filter((type) => conditions.includes(type))
      if (state.length === 0) state.push('Pending')
      if (at(request, 'status', 'certificate')) state.push('Issued')
      const duration = typeof expirationSeconds === 'number' ? `${expirationSeconds}s` : '<none>'
      return [
        nameOf(request),
        age(createdAt(request)),
        asText(signerName) || '<none>',
        asText(username),
        duration,
        state.join(','),
      ]
    },
    rules: { generation: false },
  },
  'flowschemas.flowcontrol.apiserver.k8s.io': {
    cells: (flow, age) => {
      const dangling = conditionOf(flow, 'Dangling')?.['status']
      return [
        nameOf(flow),
        asText(at(flow, 'spec', 'priorityLevelConfiguration', 'name')),
        asNumber(at(flow, 'spec', 'matchingPrecedence')),
        asText(at(flow, 'spec', 'distinguisherMethod', 'type')) || '<none>',
        age(createdAt(flow)),
        asText(dangling) || '?',
      ]
    },
  },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': {
    cells: (level, age) => {
      const limited = asJson(at(level, 'spec', 'limited'))
      const queuing = at(limited, 'limitResponse', 'queuing')
      const queue = (field: string): unknown => (isJson(queuing) ? asNumber(queuing[field]) : '<none>')
      return [
        nameOf(level),
        asText(at(level, 'spec', 'type')),
        typeof limited['nominalConcurrencyShares'] === 'number' ? limited['nominalConcurrencyShares'] : '<none>',
        queue('queues'),
        queue('handSize'),
        queue('queueLengthLimit'),
        age(createdAt(level)),
      ]
    },
  },
  'deviceclasses.resource.k8s.io': { cells: nameAndAge, rules: { returnsDeletedObject: true } },
  'resourceclaims.resource.k8s.io': {
    cells: (claim, age) => {
      const states = []
      if (at(claim, 'metadata', 'deletionTimestamp') !== undefined) states.push('deleted')
      if (at(claim, 'status', 'allocation') === undefined) states.push('pending')
      else states.push('allocated', ...(asList(at(claim, 'status', 'reservedFor')).length > 0 ? ['reserved'] : []))
      return [nameOf(claim), states.join(','), age(createdAt(claim))]
    },
    rules: { generation: false, returnsDeletedObject: true },
  },
  'resourceclaimtemplates.resource.k8s.io': {
    cells: nameAndAge,
    rules: { generation: false, returnsDeletedObject: true },
  },
  'resourceslices.resource.k8s.io': {
    cells: (slice, age) => [
      nameOf(slice),
      asText(at(slice, 'spec', 'nodeName')) || '<unset>',
      asText(at(slice, 'spec', 'driver')),
      asText(at(slice, 'spec', 'pool', 'name')),
      age(createdAt(slice)),
    ],
    rules: { returnsDeletedObject: true },
  },
}

function validateLease(lease: Json): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = asJson(lease['spec'])
  const wrong: FieldError[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    wrong.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    wrong.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  if (preferredHolder && !strategy) {
    wrong.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  }
  return wrong
}

function validateBudget(spec: Json): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec
  const wrong: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: policy ?? null,
    }
    wrong.push(invalidStruct('spec', shown, 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const [name, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined) continue
    wrong.push(...validateIntOrPercent(value, `spec.${name}`), ...validateNotAbove100(value, `spec.${name}`))
  }
  wrong.push(...validateSelector(selector as LabelSelector | undefined, 'spec.selector'))
  const policies = ['AlwaysAllow', 'IfHealthyBudget']
  if (!isUnset(policy) && !policies.includes(asText(policy))) {
    wrong.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, policies))
  }
  return wrong
}

/** These exist in every cluster. */
export const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']

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
