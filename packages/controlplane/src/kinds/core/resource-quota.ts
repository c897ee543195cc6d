import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'
import { immutable, invalidStruct, invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { isNegative, isWhole } from '../common/quantity.ts'
import { isCounted, isQuotaResource, validateQuotaResourceName } from './resource-names.ts'

export const RESOURCE_QUOTAS: KindTable = {
  resourcequotas: {
    columns: quotaColumns,
    rules: {
      generation: false,
      validate: validateQuota,
      validateChange: validateQuotaChange,
      returnsDeletedObject: true,
    },
  },
}

function quotaColumns(quota: JsonObject, age: (time: unknown) => string): readonly unknown[] {
  const [hard, used] = [
    asJsonObject(valueAtPath(quota, 'status', 'hard')),
    asJsonObject(valueAtPath(quota, 'status', 'used')),
  ]
  const names = Object.keys(hard).toSorted()
  const show = (list: readonly string[]): string =>
    list.map((name) => `${name}: ${asString(used[name]) || '0'}/${asString(hard[name])}`).join(', ')
  return [
    nameOf(quota),
    show(names.filter((name) => !name.startsWith('limits.'))),
    show(names.filter((name) => name.startsWith('limits.'))),
    age(createdAt(quota)),
  ]
}

/** Scopes that take no values: a pod is in the scope or not. */
const POD_SCOPES = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity']
const SCOPES = [...POD_SCOPES, 'PriorityClass', 'VolumeAttributesClass']
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]
const COMPUTE = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

export function validateQuota(quota: JsonObject): FieldError[] {
  const spec = asJsonObject(quota['spec'])
  const errors = Object.entries(asJsonObject(spec['hard'])).flatMap(([name, quantity]) => {
    const field = `spec.hard[${name}]`
    const found = validateQuotaResourceName(name, field)
    if (isNegative(quantity)) found.push(invalidValue(field, quantity, 'must be greater than or equal to 0'))
    if (isCounted(name) && !isWhole(quantity)) found.push(invalidValue(field, quantity, 'must be an integer'))
    return found
  })
  return [...errors, ...validateScopes(spec), ...validateScopeSelector(spec)]
}

/** Scopes are immutable. */
export function validateQuotaChange(quota: JsonObject, old: JsonObject): FieldError[] {
  const scopes = asArray(asJsonObject(quota['spec'])['scopes'])
  const before = asArray(asJsonObject(old['spec'])['scopes'])
  const isSame = new Set(scopes).symmetricDifference(new Set(before)).size === 0
  return isSame ? [] : [immutable('spec.scopes', scopes.length > 0 ? scopes : null)]
}

function validateScopes(spec: JsonObject): FieldError[] {
  const scopes = asArray(spec['scopes']).map(asString)
  const invalid = (detail: string): FieldError => invalidValue('spec.scopes', scopes, detail)
  const errors = scopes.flatMap((scope) => [
    ...(SCOPES.includes(scope) ? [] : [invalid('unsupported scope')]),
    ...resourcesOutside(spec, scope).map(() => invalid('unsupported scope applied to resource')),
  ])
  return isConflicting(scopes) ? [...errors, invalid('conflicting scopes')] : errors
}

function validateScopeSelector(spec: JsonObject): FieldError[] {
  const field = 'spec.scopeSelector.matchExpressions'
  const expressions = asJsonObjects(asJsonObject(spec['scopeSelector'])['matchExpressions'])
  // The fields as Go names them.
  const shown = {
    MatchExpressions: expressions.map(({ scopeName = '', operator = '', values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  }
  const errors = expressions.flatMap((expression) => {
    const scope = asString(expression['scopeName'])
    return [
      ...(SCOPES.includes(scope) ? [] : [invalidValue(`${field}.scopeName`, scope, 'unsupported scope')]),
      ...resourcesOutside(spec, scope).map(() => invalidStruct(field, shown, 'unsupported scope applied to resource')),
      ...validateRequirement(expression, field),
    ]
  })
  const names = expressions.map(({ scopeName }) => asString(scopeName))
  if (isConflicting(names)) errors.push(invalidValue(field, spec['scopes'] ?? null, 'conflicting scopes'))
  return errors
}

function validateRequirement({ scopeName, operator, values }: JsonObject, field: string): FieldError[] {
  const place = `${field}.operator`
  const errors: FieldError[] = []
  if (POD_SCOPES.includes(asString(scopeName)) && operator !== 'Exists') {
    const detail = `must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`
    errors.push(invalidValue(place, operator ?? '', detail))
  }
  const list = asArray(values)
  if (operator === 'In' || operator === 'NotIn') {
    if (list.length > 0) return errors
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    return [...errors, required(`${field}.values`, detail)]
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (list.length === 0) return errors
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    return [...errors, invalidValue(`${field}.values`, list, detail)]
  }
  return [...errors, invalidValue(place, operator ?? '', 'not a valid selector operator')]
}

const isConflicting = (scopes: readonly string[]): boolean =>
  CONFLICTS.some((pair) => pair.every((scope) => scopes.includes(scope)))

/** Returns the resources of a quota that this scope does not apply to. */
function resourcesOutside(spec: JsonObject, scope: string): readonly string[] {
  return Object.keys(asJsonObject(spec['hard'])).filter((name) => isQuotaResource(name) && !applies(scope, name))
}

function applies(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(resource)
  return !SCOPES.includes(scope) || resource === 'pods' || COMPUTE.includes(resource)
}
