import type { JsonObject } from '@tenure/kube/model'
import {
  asArray,
  asJsonObject,
  asString,
  dns1035Label,
  dnsSubdomain,
  isJsonObject,
  valueAtPath,
} from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { namesOf, specOf, versionsOf } from '../../model/custom-resource-definition.ts'
import { asJsonObjects, isSemanticallyEqual, isUnset, repeats } from '../../model/json.ts'
import { checkRules } from '../../schema/cel/check-rules.ts'
import {
  duplicate,
  forbidden,
  invalidEach,
  invalidStruct,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../schema/field-errors.ts'
import { schemaFromOpenApi } from '../../schema/openapi/convert.ts'
import { checkStructural } from '../../schema/structural/structural.ts'
import type { FieldError } from '../../schema/types.ts'
import { validateClientConfig } from '../admissionregistration/webhook-configurations.ts'
import { validateNewNames } from './crd-names-validation.ts'

const MAX_SELECTABLE_FIELDS = 8

/** Validates a CustomResourceDefinition; `old` is set for an update. */
export function validateCrd(crd: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(crd)
  const [group, plural] = [asString(spec['group']), asString(namesOf(crd)['plural'])]
  const name = asString(valueAtPath(crd, 'metadata', 'name'))
  const errors: FieldError[] = []
  if (name !== `${plural}.${group}`) {
    errors.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'))
  }
  append(errors, validateGroup(group))
  const scope = spec['scope']
  const scopes = ['Cluster', 'Namespaced']
  if (isUnset(scope)) errors.push(required('spec.scope'))
  else if (!scopes.includes(asString(scope))) errors.push(notSupported('spec.scope', scope, scopes))
  append(errors, validateVersions(crd))
  append(
    errors,
    validateNewNames(namesOf(crd)),
    validateDetails(crd),
    validateConversion(asJsonObject(spec['conversion'])),
  )
  append(errors, validateStored(crd))
  append(errors, validateApproval(crd, group))
  if (spec['preserveUnknownFields'] === true && valueAtPath(old, 'spec', 'preserveUnknownFields') !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(invalidValue('spec.preserveUnknownFields', true, detail))
  }
  return errors
}

function validateGroup(group: string): FieldError[] {
  if (!group) return [required('spec.group')]
  const found = dnsSubdomain(group)
  if (found.length > 0) return [invalidValue('spec.group', group, found.join(','))]
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

function validateVersions(crd: JsonObject): FieldError[] {
  const versions = versionsOf(crd)
  const errors: FieldError[] = []
  versions.forEach((version, index) => {
    if (!isJsonObject(valueAtPath(version, 'schema', 'openAPIV3Schema'))) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`))
    }
    const { deprecated, deprecationWarning } = version
    if (!isUnset(deprecationWarning) && deprecated !== true) {
      const field = `spec.versions[${index}].deprecationWarning`
      errors.push(invalidValue(field, deprecationWarning, 'can only be set for deprecated versions'))
    }
  })
  const names = versions.map(({ name }) => asString(name))
  names.forEach((name, index) => {
    const found = dns1035Label(name)
    if (found.length > 0) errors.push(invalidValue(`spec.versions[${index}].name`, name, found.join(',')))
  })
  const shown = versions.map(shownVersion)
  if (new Set(names).size !== names.length) {
    errors.push(invalidStruct('spec.versions', shown, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(invalidStruct('spec.versions', shown, 'must have exactly one version marked as storage version'))
  }
  const [first = ''] = names
  const found = first ? dns1035Label(first) : []
  if (found.length > 0) errors.push(invalidValue('spec.version', first, found.join(',')))
  return errors
}

/** The version as Go prints it, without the fields that all versions share. */
function shownVersion({ name, served, storage, deprecated, deprecationWarning }: JsonObject): JsonObject {
  return {
    Name: name,
    Served: served === true,
    Storage: storage === true,
    Deprecated: deprecated === true,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }
}

/** Validates the fields of each version. Where all versions have the same value, errors name the top-level field. */
function validateDetails(crd: JsonObject): FieldError[] {
  const versions = versionsOf(crd)
  const [first] = versions
  const isShared = (field: string): boolean =>
    first !== undefined &&
    first[field] !== undefined &&
    versions.every((version) => isSemanticallyEqual(version[field], first[field]))
  const hasStatus = versions.some((version) => isJsonObject(valueAtPath(version, 'subresources', 'status')))
  const errors: FieldError[] = []
  const each = (
    field: string,
    shared: string,
    validate: (version: JsonObject, path: string, isOwn: boolean) => FieldError[],
  ): void => {
    if (isShared(field) && first) append(errors, validate(first, `spec.${shared}`, false))
    else {
      versions.forEach((version, index) => {
        if (version[field] !== undefined) append(errors, validate(version, `spec.versions[${index}].${field}`, true))
      })
    }
  }
  each('schema', 'validation', (version, path, isOwn) => {
    const source = valueAtPath(version, 'schema', 'openAPIV3Schema')
    const found = checkStructural(source, `${path}.openAPIV3Schema`, {
      hasStatus: isOwn ? isJsonObject(valueAtPath(version, 'subresources', 'status')) : hasStatus,
    })
    return found.length > 0 ? found : checkRules(schemaFromOpenApi(source), `${path}.openAPIV3Schema`)
  })
  each('subresources', 'subresources', (version, path) =>
    validateScale(valueAtPath(version, 'subresources', 'scale'), `${path}.scale`),
  )
  each('additionalPrinterColumns', 'additionalPrinterColumns', (version, path) =>
    asJsonObjects(version['additionalPrinterColumns']).flatMap((column, index) =>
      validateColumn(column, `${path}[${index}]`),
    ),
  )
  each('selectableFields', 'selectableFields', (version, path) => validateSelectable(version, path))
  return errors
}

const isSimplePath = (path: string): boolean => path.startsWith('.')
const SIMPLE_PATH = 'must be a simple json path starting with .'

function validateScale(scale: unknown, field: string): FieldError[] {
  if (!isJsonObject(scale)) return []
  const errors: FieldError[] = []
  const check = (name: string, isRequired: boolean, roots: readonly string[], detail: string): void => {
    const path = asString(scale[name])
    if (!path) {
      if (isRequired) errors.push(required(`${field}.${name}`))
    } else if (!isSimplePath(path)) errors.push(invalidValue(`${field}.${name}`, path, SIMPLE_PATH))
    else if (!roots.some((root) => path.startsWith(root))) errors.push(invalidValue(`${field}.${name}`, path, detail))
  }
  check('specReplicasPath', true, ['.spec.'], 'should be a json path under .spec')
  check('statusReplicasPath', true, ['.status.'], 'should be a json path under .status')
  check('labelSelectorPath', false, ['.spec.', '.status.'], 'should be a json path under either .spec or .status')
  return errors
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function validateColumn({ name, type, format, jsonPath }: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (!name) errors.push(required(`${field}.name`))
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  if (!type) errors.push(required(`${field}.type`, types))
  else if (!COLUMN_TYPES.includes(asString(type))) errors.push(invalidValue(`${field}.type`, type, types))
  if (format && !COLUMN_FORMATS.includes(asString(format))) {
    errors.push(invalidValue(`${field}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  }
  if (!jsonPath) errors.push(required(`${field}.JSONPath`))
  else if (!isSimplePath(asString(jsonPath))) errors.push(invalidValue(`${field}.JSONPath`, jsonPath, SIMPLE_PATH))
  return errors
}

function validateSelectable(version: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  asJsonObjects(version['selectableFields']).forEach(({ jsonPath }, index) => {
    const path = asString(jsonPath)
    const at = `${field}[${index}].jsonPath`
    if (!path) {
      errors.push(required(at))
      return
    }
    const schema = fieldAt(version, path)
    if (!schema) {
      errors.push(invalidValue(at, path, 'is an invalid path: does not refer to a valid field'))
      return
    }
    if (path.startsWith('.metadata')) errors.push(invalidValue(at, path, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(asString(schema['type']))) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(invalidValue(at, path, detail))
    }
    if (seen.has(path)) errors.push(duplicate(at, path))
    seen.add(path)
  })
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(field, seen.size, MAX_SELECTABLE_FIELDS))
  return errors
}

/** Returns the schema of the field at a dotted path. */
function fieldAt(version: JsonObject, path: string): JsonObject | undefined {
  let schema = valueAtPath(version, 'schema', 'openAPIV3Schema')
  if (!path.startsWith('.')) return undefined
  for (const name of path.slice(1).split('.')) schema = valueAtPath(schema, 'properties', name)
  return isJsonObject(schema) ? schema : undefined
}

function validateConversion({ strategy, webhook }: JsonObject): FieldError[] {
  const field = 'spec.conversion'
  const strategies = ['None', 'Webhook']
  if (isUnset(strategy)) return [required(`${field}.strategy`)]
  const errors = strategies.includes(asString(strategy))
    ? []
    : [notSupported(`${field}.strategy`, strategy, strategies)]
  const config = valueAtPath(webhook, 'clientConfig')
  const versions = asArray(valueAtPath(webhook, 'conversionReviewVersions')).map(asString)
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (isJsonObject(config)) errors.push(forbidden(`${field}.webhookClientConfig`, detail))
    if (versions.length > 0) errors.push(forbidden(`${field}.conversionReviewVersions`, detail))
    return errors
  }
  if (isJsonObject(config)) append(errors, validateClientConfig(config, `${field}.webhookClientConfig`))
  else errors.push(required(`${field}.webhookClientConfig`, 'required when strategy is set to Webhook'))
  return [...errors, ...validateReviewVersions(versions, `${field}.conversionReviewVersions`)]
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)]
  const errors: FieldError[] = []
  const repeated = repeats(versions)
  versions.forEach((version, index) => {
    if (repeated.has(index)) errors.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'))
    else errors.push(...invalidEach(`${field}[${index}]`, version, dns1035Label(version)))
  })
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalidValue(field, versions, 'must include at least one of v1, v1beta1'))
  }
  return errors
}

function validateStored(crd: JsonObject): FieldError[] {
  const field = 'status.storedVersions'
  const stored = valueAtPath(crd, 'status', 'storedVersions')
  const list = asArray(stored).map(asString)
  if (list.length === 0) return [invalidValue(field, null, 'must have at least one stored version')]
  const versions = versionsOf(crd)
  const errors = versions
    .filter(({ name, storage }) => storage === true && !list.includes(asString(name)))
    .map(({ name }) => invalidValue(field, list, `must have the storage version ${asString(name)}`))
  list.forEach((version, index) => {
    if (versions.some(({ name }) => name === version)) return
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`
    errors.push(invalidValue(`${field}[${index}]`, version, detail))
  })
  return errors
}

const APPROVED = 'api-approved.kubernetes.io'

function validateApproval(crd: JsonObject, group: string): FieldError[] {
  const isProtected = ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`))
  if (!isProtected) return []
  const value = asString(valueAtPath(crd, 'metadata', 'annotations', APPROVED))
  const field = `metadata.annotations[${APPROVED}]`
  if (!value) {
    const detail = `protected groups must have approval annotation "${APPROVED}", see https://github.com/kubernetes/enhancements/pull/1111`
    return [required(field, detail)]
  }
  if (value.startsWith('unapproved') || URL.parse(value)?.host) return []
  const detail = `protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`
  return [invalidValue(field, value, detail)]
}
