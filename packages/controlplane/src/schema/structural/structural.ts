import type { JsonObject } from '@tenure/kube/model'
import { isDeepEqual, isJsonObject } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { forbidden, invalidValue, required } from '../field-errors.ts'
import { compileRe2, estimatedCost } from '../formats/regexp.ts'
import type { FieldError } from '../types.ts'
import { checkOpenApi } from './openapi-checks.ts'
import { checkDefaults } from './structural-defaults.ts'

export interface StructuralOptions {
  /** Whether the version has a status subresource, which restricts the root schema. Default: false. */
  readonly hasStatus?: boolean
}

/**
 * Validates the `openAPIV3Schema` of a CRD, without its CEL rules, which `checkRules` compiles if there are no errors
 * here. `path` is the path of the schema: `spec.versions[0].schema.openAPIV3Schema`.
 */
export function checkStructural(schema: unknown, path: string, options: StructuralOptions = {}): FieldError[] {
  if (!isJsonObject(schema)) return []
  const cost = patternCost(schema)
  if (cost > MAX_PATTERNS_COST) {
    const why = `the patterns of a schema must not be larger than ${MAX_PATTERNS_COST} instructions in all`
    return [forbidden(path, why)]
  }
  const errors = options.hasStatus ? checkRootWithStatus(schema, path) : []
  if (schema['nullable'] === true) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  if (!hasUnsupported(schema)) {
    const structural: FieldError[] = []
    checkInvariants(schema, 'root', path, structural)
    checkCompleteness(schema, schema, path, path, structural)
    structural.sort((a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1))
    append(errors, structural.length > 0 ? structural : checkDefaults(schema, path, true))
  }
  append(errors, checkOpenApi(schema, path))
  return errors
}

/** Maximum `estimatedCost` of the distinct patterns of a schema: about 0.4 s to compile. */
const MAX_PATTERNS_COST = 200_000

function patternCost(schema: JsonObject): number {
  const patterns = new Set<string>()
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect)
    else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (key === 'pattern' && typeof item === 'string') patterns.add(item)
        else collect(item)
      }
    }
  }
  collect(schema)
  return [...patterns].reduce((sum, pattern) => sum + estimatedCost(pattern), 0)
}

type Level = 'root' | 'item' | 'field'

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

const ALLOWED_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
const NOT_WITH_STATUS = [
  'default',
  'enum',
  'maxProperties',
  'minProperties',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'additionalProperties',
  'nullable',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]

function checkRootWithStatus(schema: JsonObject, path: string): FieldError[] {
  const type = schema['type']
  if (typeof type === 'string' && type !== 'object') {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalidValue(`${path}.type`, type, why)]
  }
  if (!NOT_WITH_STATUS.some((name) => isSet(schema[name]))) return []
  const why = `only [${ALLOWED_WITH_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalidValue(path, schema, why)]
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false
}

/** Returns whether the schema has fields that a structural schema cannot have; `checkOpenApi` reports them. */
function hasUnsupported(schema: JsonObject): boolean {
  const names = ['id', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions']
  if (names.some((name) => isSet(schema[name])) || Array.isArray(schema['items'])) return true
  return childrenOf(schema).some(hasUnsupported)
}

function childrenOf(schema: JsonObject): JsonObject[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((name) => asList(schema[name]))
  return [
    ...Object.values(asObject(schema['properties'])),
    schema['items'],
    schema['additionalProperties'],
    schema['not'],
    ...lists,
  ].filter(isJsonObject)
}

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function checkInvariants(schema: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  const type = textOf(schema['type'])
  const { items, additionalProperties } = schema
  if (type === 'array' && !isJsonObject(items)) errors.push(required(`${path}.items`, 'must be specified'))
  if (isJsonObject(items)) checkInvariants(items, 'item', `${path}.items`, errors)
  const properties = asObject(schema['properties'])
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property)) checkInvariants(property, 'field', `${path}.properties[${name}]`, errors)
  }
  if (additionalProperties !== undefined) {
    if (level === 'root') errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'))
    if (isJsonObject(additionalProperties)) {
      checkInvariants(additionalProperties, 'field', `${path}.additionalProperties`, errors)
    }
  }
  checkExtensions(schema, path, errors)
  checkValueValidation(schema, path, errors, isIntOrString(asList(schema['anyOf'])), hasIntOrStringFirst(schema))

  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (isEmbedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why))
  } else if (type === '' && schema['x-kubernetes-int-or-string'] !== true && !preserves) {
    errors.push(required(`${path}.type`, EMPTY_TYPE[level]))
  }
  if (isEmbedded && additionalProperties !== undefined) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbidden(`${path}.additionalProperties`, why))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalidValue(`${path}.type`, type, 'must be object at the root'))
  }
  const checksMetadata = level === 'root' || isEmbedded
  for (const name of ['kind', 'apiVersion']) {
    const property = properties[name]
    if (!checksMetadata || !isJsonObject(property) || property['type'] === 'string') continue
    errors.push(invalidValue(`${path}.properties[${name}].type`, textOf(property['type']), 'must be string'))
  }
  const metadata = properties['metadata']
  if (isJsonObject(metadata)) checkMetadata(metadata, checksMetadata, level, `${path}.properties[metadata]`, errors)
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(`${path}.properties`, why))
  }
}

function checkMetadata(
  schema: JsonObject,
  checksType: boolean,
  level: Level,
  path: string,
  errors: FieldError[],
): void {
  if (checksType && schema['type'] !== 'object') {
    errors.push(invalidValue(`${path}.type`, textOf(schema['type']), 'must be object'))
  }
  if (level !== 'root') return
  const { type: _, default: __, properties, ...rest } = schema
  const names = Object.keys(asObject(properties))
  if (!names.every((name) => name === 'name' || name === 'generateName') || Object.values(rest).some(isSet)) {
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(path, why))
  }
}

function checkExtensions(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
    if (schema[name] === true) {
      errors.push(invalidValue(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'))
    }
  }
}

/** The only `anyOf` that may contain types. */
function isIntOrString(anyOf: readonly unknown[]): boolean {
  return isDeepEqual(anyOf, [{ type: 'integer' }, { type: 'string' }])
}

function hasIntOrStringFirst(schema: JsonObject): boolean {
  return isIntOrString(asList(asObject(asList(schema['allOf'])[0])['anyOf']))
}

function checkValueValidation(
  schema: JsonObject,
  path: string,
  errors: FieldError[],
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
): void {
  const nested = (name: string): void => {
    asList(schema[name]).forEach((part, index) => {
      const skips = name === 'allOf' && index === 0 && skipsFirstAllOf
      if (isJsonObject(part)) checkNested(part, `${path}.${name}[${index}]`, errors, skips)
    })
  }
  if (!skipsAnyOf) nested('anyOf')
  nested('allOf')
  nested('oneOf')
  if (isJsonObject(schema['not'])) checkNested(schema['not'], `${path}.not`, errors, false)
  const pattern = textOf(schema['pattern'])
  if (pattern === '') return
  try {
    compileRe2(pattern)
  } catch (error) {
    const why = `must be a valid regular expression, but isn't: ${error instanceof Error ? error.message : ''}`
    errors.push(invalidValue(`${path}.pattern`, pattern, why))
  }
}

const FORBIDDEN_NESTED: readonly (readonly [string, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function checkNested(schema: JsonObject, path: string, errors: FieldError[], skipsAnyOf: boolean): void {
  checkValueValidation(schema, path, errors, skipsAnyOf, false)
  if (isJsonObject(schema['items'])) checkNested(schema['items'], `${path}.items`, errors, false)
  const properties = asObject(schema['properties'])
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property)) checkNested(property, `${path}.properties[${name}]`, errors, false)
  }
  for (const [name, why] of FORBIDDEN_NESTED) {
    const value = schema[name]
    const isEmptyList = Array.isArray(value) && value.length === 0
    if (isSet(value) && !isEmptyList) errors.push(forbidden(`${path}.${name}`, why))
  }
  if (Object.hasOwn(properties, 'metadata')) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  }
}

/** Validates that fields in value validations are also in the structure. */
function checkCompleteness(
  value: JsonObject,
  structure: unknown,
  structurePath: string,
  path: string,
  errors: FieldError[],
): void {
  if (isJsonObject(value['not'])) {
    checkNestedCompleteness(value['not'], structure, structurePath, `${path}.not`, errors)
  }
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    asList(value[name]).forEach((part, index) => {
      if (isJsonObject(part)) {
        checkNestedCompleteness(part, structure, structurePath, `${path}.${name}[${index}]`, errors)
      }
    })
  }
}

function checkNestedCompleteness(
  value: JsonObject,
  structure: unknown,
  structurePath: string,
  path: string,
  errors: FieldError[],
): void {
  if (!isJsonObject(structure)) {
    errors.push(required(structurePath, `because it is defined in ${path}`))
    return
  }
  checkCompleteness(value, structure, structurePath, path, errors)
  if (isJsonObject(value['items'])) {
    checkNestedCompleteness(value['items'], structure['items'], `${structurePath}.items`, `${path}.items`, errors)
  }
  const known = asObject(structure['properties'])
  for (const [name, property] of Object.entries(asObject(value['properties']))) {
    if (!isJsonObject(property)) continue
    const at = `${structurePath}.properties[${name}]`
    const from = `${path}.properties[${name}]`
    if (Object.hasOwn(known, name)) checkNestedCompleteness(property, known[name], at, from, errors)
    else errors.push(required(at, `because it is defined in ${from}`))
  }
}
