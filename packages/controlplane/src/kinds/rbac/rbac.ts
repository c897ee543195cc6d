import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsSubdomain, isJsonObject, pathSegment } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filledUnset, isSemanticallyEqual, withinField, withinItems } from '../../model/json.ts'
import { invalidEach, invalidStruct, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { ColumnValues, KindTable } from '../common/kind-table.ts'
import { matcherOf, validateSelector } from '../common/selectors.ts'

const GROUP = 'rbac.authorization.k8s.io'

const shared = { generation: false, allowsCreateOnUpdate: true } as const

/** Kinds of rbac.authorization.k8s.io. */
export const RBAC: KindTable = {
  [`roles.${GROUP}`]: { rules: { ...shared, validate: (role) => validateRules(role, true) } },
  [`clusterroles.${GROUP}`]: {
    rules: { ...shared, validate: (role) => [...validateRules(role, false), ...validateAggregation(role)] },
  },
  [`rolebindings.${GROUP}`]: bindingEntry(true),
  [`clusterrolebindings.${GROUP}`]: bindingEntry(false),
}

function bindingEntry(isNamespaced: boolean): KindTable[string] {
  return {
    columns: bindingColumns,
    rules: {
      ...shared,
      defaults: (binding) => {
        const filled = withinField(binding, 'roleRef', (ref) => filledUnset(ref, { apiGroup: GROUP }))
        return withinItems(filled, 'subjects', (subject) =>
          subject['kind'] === 'User' || subject['kind'] === 'Group'
            ? filledUnset(subject, { apiGroup: GROUP })
            : subject,
        )
      },
      validate: (binding) => validateBinding(binding, isNamespaced),
      validateChange: (binding, old) => {
        if (isSemanticallyEqual(binding['roleRef'], old['roleRef'])) return []
        const { apiGroup, kind, name } = asJsonObject(binding['roleRef'])
        return [invalidStruct('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')]
      },
    },
  }
}

const account = (subject: JsonObject): string => `${asString(subject['namespace'])}/${asString(subject['name'])}`

function bindingColumns(binding: JsonObject, age: Parameters<ColumnValues>[1]): readonly unknown[] {
  const { kind, name } = asJsonObject(binding['roleRef'])
  const subjects = asJsonObjects(binding['subjects'])
  const named = (of: string, show = (subject: JsonObject): string => asString(subject['name'])): string =>
    subjects
      .filter((subject) => subject['kind'] === of)
      .map(show)
      .join(', ')
  return [
    nameOf(binding),
    `${asString(kind)}/${asString(name)}`,
    age(createdAt(binding)),
    named('User'),
    named('Group'),
    named('ServiceAccount', account),
  ]
}

function validateRules(role: JsonObject, isNamespaced: boolean): FieldError[] {
  return asJsonObjects(role['rules']).flatMap((rule, index) => {
    const field = `rules[${index}]`
    const errors: FieldError[] = []
    const has = (name: string): boolean => asArray(rule[name]).length > 0
    if (!has('verbs')) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
    if (has('nonResourceURLs')) {
      const addError = (detail: string): number =>
        errors.push(invalidValue(`${field}.nonResourceURLs`, rule['nonResourceURLs'], detail))
      if (isNamespaced) addError('namespaced rules cannot apply to non-resource URLs')
      if (has('apiGroups') || has('resources') || has('resourceNames')) {
        addError('rules cannot apply to both regular resources and non-resource URLs')
      }
      return errors
    }
    if (!has('apiGroups'))
      errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
    if (!has('resources'))
      errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
    return errors
  })
}

function validateAggregation({ aggregationRule }: JsonObject): FieldError[] {
  if (!isJsonObject(aggregationRule)) return []
  const field = 'aggregationRule.clusterRoleSelectors'
  const selectors = asJsonObjects(aggregationRule['clusterRoleSelectors'])
  if (selectors.length === 0) {
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return selectors.flatMap((selector: LabelSelector, index) => {
    const at = `${field}[${index}]`
    const errors = validateSelector(selector, at)
    return matcherOf(selector) ? errors : [...errors, invalidValue(at, null, 'invalid label selector.')]
  })
}

function validateBinding(binding: JsonObject, isNamespaced: boolean): FieldError[] {
  const { apiGroup, kind, name } = asJsonObject(binding['roleRef'])
  const errors: FieldError[] = []
  if (apiGroup !== GROUP) errors.push(notSupported('roleRef.apiGroup', apiGroup ?? '', [GROUP]))
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(asString(kind))) errors.push(notSupported('roleRef.kind', kind ?? '', kinds))
  if (name) errors.push(...invalidEach('roleRef.name', name, pathSegment(asString(name))))
  else errors.push(required('roleRef.name'))
  asJsonObjects(binding['subjects']).forEach((subject, index) => {
    append(errors, validateSubject(subject, isNamespaced, `subjects[${index}]`))
  })
  return errors
}

function validateSubject(subject: JsonObject, isNamespaced: boolean, field: string): FieldError[] {
  const { kind, name, apiGroup, namespace } = subject
  const errors: FieldError[] = name ? [] : [required(`${field}.name`)]
  switch (kind) {
    case 'ServiceAccount':
      if (name) errors.push(...invalidEach(`${field}.name`, name, dnsSubdomain(asString(name))))
      if (apiGroup) errors.push(notSupported(`${field}.apiGroup`, apiGroup, ['']))
      if (!isNamespaced && !namespace) errors.push(required(`${field}.namespace`))
      break
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) errors.push(notSupported(`${field}.apiGroup`, apiGroup ?? '', [GROUP]))
      break
    default:
      errors.push(notSupported(`${field}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}
