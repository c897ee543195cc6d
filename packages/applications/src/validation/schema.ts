import type { JSONSchemaProps } from '@tenure/kube/kinds'
import { isJsonObject, type JsonObject, ownValue } from '@tenure/kube/model'

/** One error in an object. The value is left out if it is long. */
export interface ValidationDetail {
  /** `spec.replicas`, `spec.ports[0].port`. */
  readonly field: string
  readonly message: string
  readonly value?: unknown
}

/** Message for an invalid name. */
export const NAME_RULE = `Name must have at most 63 lower-case letters, digits and '-', and begin and end with a letter or digit`
/** Bounds the response to a body of megabytes. */
export const MAX_DETAILS = 50
/** In characters. Some patterns take time that grows with the square of the length. */
const MAX_PATTERN_INPUT_LENGTH = 4_096
/** In characters. */
const MAX_SHOWN_VALUE_LENGTH = 200

/**
 * Validates `value` against a structural schema, as the API server does: types, required fields, limits, enumerations
 * and patterns. CEL rules and uniqueness in lists are left to the server, and so are unknown fields, which it drops.
 */
export function violations(schema: JSONSchemaProps, value: unknown, field: string): readonly ValidationDetail[] {
  const details: ValidationDetail[] = []
  walk(schema, value, field, details)
  return details
}

/** Path of an entry: `spec.config.key`, or `spec.config[a.b]` if the key has a dot. */
export function childPath(parent: string, key: string): string {
  if (!/^[\w-]{1,64}$/.test(key)) return `${parent}[${key.slice(0, 64)}]`
  return parent === '' ? key : `${parent}.${key}`
}

export function detail(field: string, message: string, value?: unknown): ValidationDetail {
  const isShown =
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null ||
    (typeof value === 'string' && value.length <= MAX_SHOWN_VALUE_LENGTH)
  return isShown ? { field, message, value } : { field, message }
}

/** JSON type of a value. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Reads an own property. Null counts as missing, because the API server drops it before validation. */
export function own(object: JsonObject, key: string): unknown {
  return ownValue(object, key) ?? undefined
}

function walk(schema: JSONSchemaProps, value: unknown, field: string, into: ValidationDetail[]): void {
  if (into.length >= MAX_DETAILS) return
  if (value === null && schema.nullable) return
  const expected = schema['x-kubernetes-int-or-string'] ? 'integer or string' : schema.type
  if (expected !== undefined && !isOfType(value, expected)) {
    into.push(detail(field, `Expected ${expected}, got ${typeName(value)}`, value))
    return
  }
  if (schema.enum && !schema.enum.includes(value)) {
    into.push(detail(field, `Value must be one of: ${schema.enum.map(String).join(', ')}`, value))
    return
  }
  if (typeof value === 'number') checkNumber(schema, value, field, into)
  else if (typeof value === 'string') checkText(schema, value, field, into)
  else if (Array.isArray(value)) checkList(schema, value, field, into)
  else if (isJsonObject(value)) checkRecord(schema, value, field, into)
}

function isOfType(value: unknown, expected: string): boolean {
  switch (expected) {
    case 'integer':
      return Number.isInteger(value)
    case 'integer or string':
      return Number.isInteger(value) || typeof value === 'string'
    default:
      return typeName(value) === expected
  }
}

function checkNumber(schema: JSONSchemaProps, value: number, field: string, into: ValidationDetail[]): void {
  const { minimum, maximum } = schema
  if (minimum !== undefined && value < minimum) into.push(detail(field, `Value must be at least ${minimum}`, value))
  if (maximum !== undefined && value > maximum) into.push(detail(field, `Value must be at most ${maximum}`, value))
  else if (schema.format === 'int32' && value > 2 ** 31 - 1) {
    into.push(detail(field, `Value must be at most ${2 ** 31 - 1}`, value))
  }
}

function checkText(schema: JSONSchemaProps, value: string, field: string, into: ValidationDetail[]): void {
  const { minLength, pattern } = schema
  const maxLength = schema.maxLength ?? (pattern === undefined ? undefined : MAX_PATTERN_INPUT_LENGTH)
  if (minLength !== undefined && value.length < minLength) {
    into.push(detail(field, `Value must have at least ${counted(minLength, 'character')}`, value))
  } else if (maxLength !== undefined && value.length > maxLength) {
    into.push(detail(field, `Value must have at most ${counted(maxLength, 'character')}`, value))
  } else if (pattern !== undefined && !compiled(pattern).test(value)) {
    into.push(detail(field, `Value must match ${pattern}`, value))
  }
}

function checkList(schema: JSONSchemaProps, value: readonly unknown[], field: string, into: ValidationDetail[]): void {
  const { items, minItems, maxItems } = schema
  if (minItems !== undefined && value.length < minItems) {
    into.push(detail(field, `Value must have at least ${counted(minItems, 'item')}`))
  }
  if (maxItems !== undefined && value.length > maxItems) {
    into.push(detail(field, `Value must have at most ${counted(maxItems, 'item')}`))
  }
  if (!isSchema(items)) return
  for (const [index, item] of value.entries()) {
    if (into.length >= MAX_DETAILS) return
    walk(items, item, `${field}[${index}]`, into)
  }
}

function checkRecord(schema: JSONSchemaProps, value: JsonObject, field: string, into: ValidationDetail[]): void {
  const { properties = {}, additionalProperties, maxProperties, required = [] } = schema
  if (maxProperties !== undefined && Object.keys(value).length > maxProperties) {
    into.push(detail(field, `Value must have at most ${counted(maxProperties, 'entry', 'entries')}`))
  }
  for (const [key, inner] of Object.entries(properties)) {
    const found = own(value, key)
    if (found !== undefined) walk(inner, found, childPath(field, key), into)
    else if (required.includes(key)) into.push(detail(childPath(field, key), 'Required field is missing'))
  }
  if (!isSchema(additionalProperties)) return
  for (const [key, inner] of Object.entries(value)) {
    if (into.length >= MAX_DETAILS) return
    if (inner !== null) walk(additionalProperties, inner, childPath(field, key), into)
  }
}

function isSchema(schema: JSONSchemaProps['items'] | boolean): schema is JSONSchemaProps {
  return typeof schema === 'object' && !Array.isArray(schema)
}

const patterns = new Map<string, RegExp>()

function compiled(pattern: string): RegExp {
  let expression = patterns.get(pattern)
  if (!expression) patterns.set(pattern, (expression = new RegExp(pattern, 'u')))
  return expression
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
