import {
  duplicate,
  forbiddenField,
  invalidEach,
  invalidStruct,
  invalidValue,
  notSupported,
  required,
} from '../common/field-errors.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asList, asText, at, isJson, isSemanticallyEqual, isUnset, repeats } from '../../model/json.ts'
import { dns1035Label, dnsSubdomain } from '../common/names.ts'
import { validateClientConfig } from '../admissionregistration/webhook-configurations.ts'
import { checkRules } from '../../schema/cel/check-rules.ts'
import { schemaFromOpenApi } from '../../schema/openapi/convert.ts'
import { tooMany } from '../../schema/field-errors.ts'
import { checkStructural } from '../../schema/structural/structural.ts'
import type { FieldError } from '../../schema/types.ts'
import { validateNewNames } from './crd-names-validation.ts'
import { namesOf, specOf, versionsOf } from '../../model/custom-resource-definition.ts'

const MOST_SELECTABLE = 8

/** What is wrong with a CustomResourceDefinition; `old` is what an update replaces. */
export function validateCrd(crd: Json, old: Json | undefined): FieldError[] {
  const spec = specOf(crd)
  const [group, plural] = [asText(spec['group']), asText(namesOf(crd)['plural'])]
  const name = asText(at(crd, 'metadata', 'name'))
  const wrong: FieldError[] = []
  if (name !== `${plural}.${group}`) {
    wrong.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'))
  }
  wrong.push(...validateGroup(group))
  const scope = spec['scope']
  const scopes = ['Cluster', 'Namespaced']
  if (isUnset(scope)) wrong.push(required('spec.scope'))
  else if (!scopes.includes(asText(scope))) wrong.push(notSupported('spec.scope', scope, scopes))
  wrong.push(...validateVersions(crd))
  wrong.push(
    ...validateNewNames(namesOf(crd)),
    ...validateDetails(crd),
    ...validateConversion(asJson(spec['conversion'])),
  )
  wrong.push(...validateStored(crd))
  wrong.push(...validateApproval(crd, group))
  if (spec['preserveUnknownFields'] === true && at(old, 'spec', 'preserveUnknownFields') !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    wrong.push(invalidValue('spec.preserveUnknownFields', true, detail))
  }
  return wrong
}

function validateGroup(group: string): FieldError[] {
  if (!group) return [required('spec.group')]
  const found = dnsSubdomain(group)
  if (found.length > 0) return [invalidValue('spec.group', group, found.join(','))]
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

function validateVersions(crd: Json): FieldError[] {
  const versions = versionsOf(crd)
  const wrong: FieldError[] = []
  versions.forEach((version, index) => {
    if (!isJson(at(version, 'schema', 'openAPIV3Schema'))) {
      wrong.push(required(`spec.versions[${index}].schema.openAPIV3Schema`))
    }
    const { deprecated, deprecationWarning } = version
    if (!isUnset(deprecationWarning) && deprecated !== true) {
      const field = `spec.versions[${index}].deprecationWarning`
      wrong.push(invalidValue(field, deprecationWarning, 'can only be set for deprecated versions'))
    }
  })
  const names = versions.map(({ name }) => asText(name))
  names.forEach((name, index) => {
    const found = dns1035Label(name)
    if (found.length > 0) wrong.push(invalidValue(`spec.versions[${index}].name`, name, found.join(',')))
  })
  const shown = versions.map(shownVersion)
  if (new Set(names).size !== names.length) {
    wrong.push(invalidStruct('spec.versions', shown, 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    wrong.push(invalidStruct('spec.versions', shown, 'must have exactly one version marked as storage version'))
  }
  const [first = ''] = names
  const found = first ? dns1035Label(first) : []
  if (found.length > 0) wrong.push(invalidValue('spec.version', first, found.join(',')))
  return wrong
}

/** As the server's own struct prints, what all versions share apart. */
function shownVersion({ name, served, storage, deprecated, deprecationWarning }: Json): Json {
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

/**
 * What a version says besides its name. Where all versions say the same, the server speaks of it as of the whole
 * definition's.
 */
function validateDetails(crd: Json): FieldError[] {
  const versions = versionsOf(crd)
  const [first] = versions
  const isShared = (field: string): boolean =>
    first !== undefined &&
    first[field] !== undefined &&
    versions.every((version) => isSemanticallyEqual(version[field], first[field]))
  const hasStatus = versions.some((version) => isJson(at(version, 'subresources', 'status')))
  const wrong: FieldError[] = []
  const each = (
    field: string,
    shared: string,
    validate: (version: Json, path: string, isOwn: boolean) => FieldError[],
  ): void => {
    if (isShared(field) && first) wrong.push(...validate(first, `spec.${shared}`, false))
    else {
      versions.forEach((version, index) => {
        if (version[field] !== undefined) wrong.push(...validate(version, `spec.versions[${index}].${field}`, true))
      })
    }
  }
  each('schema', 'validation', (version, path, isOwn) => {
    const source = at(version, 'schema', 'openAPIV3Schema')
    const found = checkStructural(source, `${path}.openAPIV3Schema`, {
      hasStatus: isOwn ? isJson(at(version, 'subresources', 'status')) : hasStatus,
    })
    return found.length > 0 ? found : checkRules(schemaFromOpenApi(source), `${path}.openAPIV3Schema`)
  })
  each('subresources', 'subresources', (version, path) =>
    validateScale(at(version, 'subresources', 'scale'), `${path}.scale`),
  )
  each('additionalPrinterColumns', 'additionalPrinterColumns', (version, path) =>
    asJsons(version['additionalPrinterColumns']).flatMap((column, index) =>
      validateColumn(column, `${path}[${index}]`),
    ),
  )
  each('selectableFields', 'selectableFields', (version, path) => validateSelectable(version, path))
  return wrong
}

const isSimplePath = (path: string): boolean => path.startsWith('.')
const SIMPLE_PATH = 'must be a simple json path starting with .'

function validateScale(scale: unknown, field: string): FieldError[] {
  if (!isJson(scale)) return []
  const wrong: FieldError[] = []
  const check = (name: string, isRequired: boolean, roots: readonly string[], detail: string): void => {
    const path = asText(scale[name])
    if (!path) {
      if (isRequired) wrong.push(required(`${field}.${name}`))
    } else if (!isSimplePath(path)) wrong.push(invalidValue(`${field}.${name}`, path, SIMPLE_PATH))
    else if (!roots.some((root) => path.startsWith(root))) wrong.push(invalidValue(`${field}.${name}`, path, detail))
  }
  check('specReplicasPath', true, ['.spec.'], 'should be a json path under .spec')
  check('statusReplicasPath', true, ['.status.'], 'should be a json path under .status')
  check('labelSelectorPath', false, ['.spec.', '.status.'], 'should be a json path under either .spec or .status')
  return wrong
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function validateColumn({ name, type, format, jsonPath }: Json, field: string): FieldError[] {
  const wrong: FieldError[] = []
  if (!name) wrong.push(required(`${field}.name`))
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  if (!type) wrong.push(required(`${field}.type`, types))
  else if (!COLUMN_TYPES.includes(asText(type))) wrong.push(invalidValue(`${field}.type`, type, types))
  if (format && !COLUMN_FORMATS.includes(asText(format))) {
    wrong.push(invalidValue(`${field}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  }
  if (!jsonPath) wrong.push(required(`${field}.JSONPath`))
  else if (!isSimplePath(asText(jsonPath))) wrong.push(invalidValue(`${field}.JSONPath`, jsonPath, SIMPLE_PATH))
  return wrong
}

function validateSelectable(version: Json, field: string): FieldError[] {
  const wrong: FieldError[] = []
  const seen = new Set<string>()
  asJsons(version['selectableFields']).forEach(({ jsonPath }, index) => {
    const path = asText(jsonPath)
    const at = `${field}[${index}].jsonPath`
    if (!path) {
      wrong.push(required(at))
      return
    }
    const schema = fieldAt(version, path)
    if (!schema) {
      wrong.push(invalidValue(at, path, 'is an invalid path: does not refer to a valid field'))
      return
    }
    if (path.startsWith('.metadata')) wrong.push(invalidValue(at, path, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(asText(schema['type']))) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      wrong.push(invalidValue(at, path, detail))
    }
    if (seen.has(path)) wrong.push(duplicate(at, path))
    seen.add(path)
  })
  if (seen.size > MOST_SELECTABLE) wrong.push(tooMany(field, seen.size, MOST_SELECTABLE))
  return wrong
}

/** The schema that a dotted path leads to. */
function fieldAt(version: Json, path: string): Json | undefined {
  let schema = at(version, 'schema', 'openAPIV3Schema')
  if (!path.startsWith('.')) return undefined
  for (const name of path.slice(1).split('.')) schema = at(schema, 'properties', name)
  return isJson(schema) ? schema : undefined
}

function validateConversion({ strategy, webhook }: Json): FieldError[] {
  const field = 'spec.conversion'
  const strategies = ['None', 'Webhook']
  if (isUnset(strategy)) return [required(`${field}.strategy`)]
  const wrong = strategies.includes(asText(strategy)) ? [] : [notSupported(`${field}.strategy`, strategy, strategies)]
  const config = at(webhook, 'clientConfig')
  const versions = asList(at(webhook, 'conversionReviewVersions')).map(asText)
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (isJson(config)) wrong.push(forbiddenField(`${field}.webhookClientConfig`, detail))
    if (versions.length > 0) wrong.push(forbiddenField(`${field}.conversionReviewVersions`, detail))
    return wrong
  }
  if (isJson(config)) wrong.push(...validateClientConfig(config, `${field}.webhookClientConfig`))
  else wrong.push(required(`${field}.webhookClientConfig`, 'required when strategy is set to Webhook'))
  return [...wrong, ...validateReviewVersions(versions, `${field}.conversionReviewVersions`)]
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)]
  const wrong: FieldError[] = []
  const repeated = repeats(versions)
  versions.forEach((version, index) => {
    if (repeated.has(index)) wrong.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'))
    else wrong.push(...invalidEach(`${field}[${index}]`, version, dns1035Label(version)))
  })
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    wrong.push(invalidValue(field, versions, 'must include at least one of v1, v1beta1'))
  }
  return wrong
}

function validateStored(crd: Json): FieldError[] {
  const field = 'status.storedVersions'
  const stored = at(crd, 'status', 'storedVersions')
  const list = asList(stored).map(asText)
  if (list.length === 0) return [invalidValue(field, null, 'must have at least one stored version')]
  const versions = versionsOf(crd)
  const wrong = versions
    .filter(({ name, storage }) => storage === true && !list.includes(asText(name)))
    .map(({ name }) => invalidValue(field, list, `must have the storage version ${asText(name)}`))
  list.forEach((version, index) => {
    if (versions.some(({ name }) => name === version)) return
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`
    wrong.push(invalidValue(`${field}[${index}]`, version, detail))
  })
  return wrong
}

const APPROVED = 'api-approved.kubernetes.io'

function validateApproval(crd: Json, group: string): FieldError[] {
  const isProtected = ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`))
  if (!isProtected) return []
  const value = asText(at(crd, 'metadata', 'annotations', APPROVED))
  const field = `metadata.annotations[${APPROVED}]`
  if (!value) {
    const detail = `protected groups must have approval annotation "${APPROVED}", see https://github.com/kubernetes/enhancements/pull/1111`
    return [required(field, detail)]
  }
  if (value.startsWith('unapproved') || URL.parse(value)?.host) return []
  const detail = `protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`
  return [invalidValue(field, value, detail)]
}
