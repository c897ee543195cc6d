import type { JsonObject } from '@tenure/kube/model'
import { isJsonObject } from '@tenure/kube/model'

import { forbidden, invalidValue, notSupported, required } from '../field-errors.ts'
import { fieldPathOf } from '../field-path.ts'
import { schemaFromOpenApi } from '../openapi/convert.ts'
import type { FieldError } from '../types.ts'

/** The position in the schema. */
interface Context {
  readonly isRoot: boolean
  readonly isInsideMetadata: boolean
  /** The reason why a default is not allowed here. */
  readonly noDefault: string | undefined
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const META = new Set(['metadata', 'kind', 'apiVersion'])

/** Validates the OpenAPI schema of a CRD, apart from structural rules. */
export function checkOpenApi(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  check(schema, path, { isRoot: true, isInsideMetadata: false, noDefault: undefined }, errors)
  return errors
}

function check(schema: JsonObject, path: string, context: Context, errors: FieldError[]): void {
  checkSupported(schema, path, context, errors)
  if (schema['uniqueItems'] === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(`${path}.uniqueItems`, why))
  }
  checkChildren(schema, path, { ...context, isRoot: false }, context.isRoot, errors)
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  checkMapType(schema, path, errors)
  checkListType(schema, path, errors)
  checkListMap(schema, path, errors)
  checkKeys(schema, path, errors)
  checkRuleTexts(schema, path, errors)
}

function checkSupported(schema: JsonObject, path: string, context: Context, errors: FieldError[]): void {
  const { type } = schema
  if (typeof type === 'string' && type !== '' && !TYPES.includes(type)) {
    errors.push(notSupported(`${path}.type`, type, TYPES))
  }
  if (isPresent(schema['default']) && context.noDefault !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${context.noDefault}`))
  }
  for (const name of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']) {
    if (isPresent(schema[name])) errors.push(forbidden(`${path}.${name}`, `${name} is not supported`))
  }
  if (type === 'null') {
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  }
  if (Array.isArray(schema['items'])) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (context.isInsideMetadata && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function checkChildren(
  schema: JsonObject,
  path: string,
  context: Context,
  isRoot: boolean,
  errors: FieldError[],
): void {
  const { properties, additionalProperties, items, not } = schema
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0
  if (additionalProperties !== undefined && additionalProperties !== null) {
    if (hasProperties && additionalProperties !== true) {
      const why = 'additionalProperties and properties are mutual exclusive'
      errors.push(forbidden(`${path}.additionalProperties`, why))
    }
    if (isJsonObject(additionalProperties)) {
      const noDefault = context.isInsideMetadata
        ? 'inside additionalProperties applying to object metadata'
        : context.noDefault
      check(additionalProperties, `${path}.additionalProperties`, { ...context, noDefault }, errors)
    }
  }
  if (hasProperties) {
    const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true
    for (const [name, property] of Object.entries(properties)) {
      if (!isJsonObject(property)) continue
      const isMeta = isResource && META.has(name)
      const noDefault = isMeta && isRoot ? `in top-level ${name}` : context.noDefault
      const isInsideMetadata = context.isInsideMetadata || isMeta
      check(property, `${path}.properties[${name}]`, { isRoot: false, isInsideMetadata, noDefault }, errors)
    }
  }
  if (isJsonObject(not)) check(not, `${path}.not`, context, errors)
  for (const name of ['allOf', 'oneOf', 'anyOf']) {
    const parts = schema[name]
    if (!Array.isArray(parts)) continue
    parts.forEach((part: unknown, index) => {
      if (isJsonObject(part)) check(part, `${path}.${name}[${index}]`, context, errors)
    })
  }
  if (isJsonObject(items)) check(items, `${path}.items`, context, errors)
}

function checkMapType(schema: JsonObject, path: string, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (!isPresent(mapType)) return
  if (schema['type'] !== 'object') {
    errors.push(wrongType(schema, path, 'must be object if x-kubernetes-map-type is specified'))
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
  }
}

function wrongType(schema: JsonObject, path: string, why: string): FieldError {
  const { type } = schema
  return isPresent(type) ? invalidValue(`${path}.type`, type, why) : required(`${path}.type`, why)
}

function checkListType(schema: JsonObject, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys']
  const { items } = schema
  if (isPresent(listType)) {
    if (schema['type'] !== 'array') {
      errors.push(wrongType(schema, path, 'must be array if x-kubernetes-list-type is specified'))
    } else if (listType === 'set' && isJsonObject(items)) {
      const why = 'must be atomic as item of a list with x-kubernetes-list-type=set'
      const itemListType = items['x-kubernetes-list-type'] ?? null
      if (items['type'] === 'array' && itemListType !== null && itemListType !== 'atomic') {
        errors.push(invalidValue(`${path}.items.x-kubernetes-list-type`, itemListType, why))
      } else if (items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
        errors.push(invalidValue(`${path}.items.x-kubernetes-map-type`, itemListType, why))
      }
    }
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
    }
  }
  if (Array.isArray(keys) && keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const at = `${path}.x-kubernetes-list-type`
    errors.push(isPresent(listType) ? invalidValue(at, listType, why) : required(at, why))
  }
}

function listKeys(schema: JsonObject): readonly string[] {
  const keys = schema['x-kubernetes-list-map-keys']
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
}

function checkListMap(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-list-type'] !== 'map') return
  const keys = listKeys(schema)
  const { items } = schema
  if (keys.length === 0) {
    const why = 'must not be empty if x-kubernetes-list-type is map'
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, why))
  }
  if (!isJsonObject(items)) {
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (items['type'] !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalidValue(`${path}.items.type`, items['type'] ?? '', why))
    return
  }
  const properties = isJsonObject(items['properties']) ? items['properties'] : {}
  const seen = new Set<string>()
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (!isJsonObject(property)) {
      const why = 'entries must all be names of item properties'
      errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, why))
    } else if (property['type'] === 'array' || property['type'] === 'object') {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, items['type'], why))
    }
    if (seen.has(key)) {
      errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries'))
    }
    seen.add(key)
  }
}

function checkKeys(schema: JsonObject, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  const { items } = schema
  if (!isJsonObject(items) || (listType !== 'set' && listType !== 'map')) return
  if (items['nullable'] === true) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(forbidden(`${path}.items.nullable`, why))
  }
  if (listType === 'set') return
  const properties = isJsonObject(items['properties']) ? items['properties'] : {}
  const needed = Array.isArray(items['required']) ? items['required'] : []
  for (const key of listKeys(schema)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (!isJsonObject(property)) continue
    const at = `${path}.items.properties[${key}]`
    const because = 'this property is in x-kubernetes-list-map-keys, so it'
    if (!needed.includes(key) && !isPresent(property['default'])) {
      errors.push(required(`${at}.default`, `${because} must have a default or be a required property`))
    }
    if (property['nullable'] === true) errors.push(forbidden(`${at}.nullable`, `${because} cannot be nullable`))
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function checkRuleTexts(schema: JsonObject, path: string, errors: FieldError[]): void {
  const rules = schema['x-kubernetes-validations']
  if (!Array.isArray(rules)) return
  rules.forEach((rule: unknown, index) => {
    if (isJsonObject(rule)) checkRuleText(schema, rule, `${path}.x-kubernetes-validations[${index}]`, errors)
  })
}

function checkRuleText(schema: JsonObject, rule: JsonObject, at: string, errors: FieldError[]): void {
  const text = textOf(rule['rule'])
  const message = textOf(rule['message'])
  const expression = textOf(rule['messageExpression'])
  const fieldPath = textOf(rule['fieldPath'])
  const { reason } = rule
  if (text.trim() === '') errors.push(required(`${at}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    errors.push(invalidValue(`${at}.message`, message, 'must be non-empty if specified'))
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${at}.message`, message, 'must not contain line breaks'))
  } else if (/[\n\r]/.test(text.trim()) && message.trim() === '') {
    errors.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (expression !== '' && expression.trim() === '') {
    errors.push(required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (isPresent(reason) && !REASONS.includes(textOf(reason))) {
    errors.push(notSupported(`${at}.reason`, reason, REASONS))
  }
  if (fieldPath === '') return
  if (fieldPath.trim() === '') {
    errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  }
  if (/[\n\r]/.test(fieldPath)) errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'))
  if (fieldPathOf(fieldPath, schemaFromOpenApi(schema)) === undefined) {
    errors.push(invalidValue(`${at}.fieldPath`, fieldPath, 'must be a valid path'))
  }
}
