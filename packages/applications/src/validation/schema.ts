import type { JSONSchemaProps } from '@tenure/kube/kinds'

/** One thing that is wrong with an object: where, what, and the value if it is short enough to be shown. */
export interface ValidationDetail {
  /** `spec.replicas`, `spec.ports[0].port`. */
  readonly field: string
  readonly message: string
  readonly value?: unknown
}

/** What is wrong with a name, whoever finds it. */
export const NAME_RULE = `Name must have at most 63 lower-case letters, digits and '-', and begin and end with a letter or digit`
/** More complaints than that help nobody, and a body of megabytes could cause as many. */
export const MOST_DETAILS = 50
/** Patterns are not tried on longer texts: some take time that grows with the square of the length. */
const LONGEST_MATCHED = 4_096
const LONGEST_SHOWN = 200

/**
 * What of `value` a structural schema does not allow. It says the same as the API server about types, required fields,
 * limits, enumerations and patterns. What it leaves to the server: rules in CEL, uniqueness in lists, and unknown
 * fields, which the server drops. It goes no deeper than the schema does.
 */
export function violations(schema: JSONSchemaProps, value: unknown, field: string): readonly ValidationDetail[] {
  const details: ValidationDetail[] = []
  walk(schema, value, field, details)
  return details
}

/** The path of an entry: `spec.config.key`, or `spec.config[a.b]` where a dot would mislead. */
export function childPath(parent: string, key: string): string {
  if (!/^[\w-]{1,64}$/.test(key)) return `${parent}[${key.slice(0, 64)}]`
  return parent === '' ? key : `${parent}.${key}`
}

/** A detail, with the value if it is small. */
export function detail(field: string, message: string, value?: unknown): ValidationDetail {
  const isShown =
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null ||
    (typeof value === 'string' && value.length <= LONGEST_SHOWN)
  return isShown ? { field, message, value } : { field, message }
}

/** What JSON calls the type of a value. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A property, read so that what every object inherits is not taken for something that the body says. Null counts as
 * missing: the API server drops it before it looks.
 */
export function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? (record[key] ?? undefined) : undefined
}

function walk(schema: JSONSchemaProps, value: unknown, field: string, into: ValidationDetail[]): void {
  if (into.length >= MOST_DETAILS) return
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
  else if (isRecord(value)) checkRecord(schema, value, field, into)
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
  const maxLength = schema.maxLength ?? (pattern === undefined ? undefined : LONGEST_MATCHED)
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
    if (into.length >= MOST_DETAILS) return
    walk(items, item, `${field}[${index}]`, into)
  }
}

function checkRecord(
  schema: JSONSchemaProps,
  value: Readonly<Record<string, unknown>>,
  field: string,
  into: ValidationDetail[],
): void {
  const { properties = {}, additionalProperties, required = [] } = schema
  for (const [key, inner] of Object.entries(properties)) {
    const found = own(value, key)
    if (found !== undefined) walk(inner, found, childPath(field, key), into)
    else if (required.includes(key)) into.push(detail(childPath(field, key), 'Required field is missing'))
  }
  if (!isSchema(additionalProperties)) return
  for (const [key, inner] of Object.entries(value)) {
    if (into.length >= MOST_DETAILS) return
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

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
