import type { JsonObject } from '@tenure/kube/model'
import { isDeepEqual } from '@tenure/kube/model'

import { invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from '../field-errors.ts'
import type { Pattern } from '../formats/regexp.ts'
import { goJson, goQuote } from '../go-text.ts'
import type { FieldError } from '../types.ts'
import type { SchemaNode } from './schema-node.ts'

/** Checks of one value without its children, in the order and with the texts of kube-openapi's validator. */

type Errors = FieldError[]

const INT64 = 2 ** 63

/** Go parses a number without fraction as an int64 if it fits. */
function isWhole(value: number): boolean {
  return Number.isInteger(value) && value < INT64 && value >= -INT64
}

/** The name of the type in kube-apiserver's errors. */
export function typeOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'number':
      return isWhole(value) ? 'integer' : 'number'
    default:
      return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object'
  }
}

/** Returns whether the type matches; `checkType` reports the error. */
export function fitsType(node: SchemaNode, value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return node.type === 'string' || node.isIntOrString || (node.format !== '' && node.type === undefined)
    case 'number':
      if (node.type === 'number') return true
      return (node.type === 'integer' || node.isIntOrString) && isWhole(value)
    case 'boolean':
      return node.type === 'boolean'
    default:
      if (value === null) return node.isNullable
      if (Array.isArray(value)) return node.type === 'array' || (node.type === 'string' && node.format !== '')
      return node.type === 'object'
  }
}

/** Returns whether a scalar passes all checks. The fast path: no field path is built. */
export function passesChecks(node: SchemaNode, value: unknown): boolean {
  if (!fitsType(node, value)) return node.typeName === '' && !node.hasChecks
  if (!node.hasChecks) return true
  const { schema } = node
  if (node.hasComposites) return false
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false
  if (typeof value === 'string') {
    if (!node.checksText) return true
    const { length } = value
    if (schema.maxLength !== undefined && length > schema.maxLength) return false
    // A character has at most two UTF-16 code units.
    if (schema.minLength !== undefined && length < schema.minLength * 2 && lengthOf(value) < schema.minLength)
      return false
    const { pattern } = node
    if (pattern !== undefined && (pattern instanceof Error || !matchesPattern(pattern, value))) return false
    return node.checkFormat === undefined || node.checkFormat(value)
  }
  if (typeof value !== 'number') return true
  return (value | 0) === value && !node.checksNumbers
}

/** Maximum steps of matching the patterns of one object, where a step is one instruction on one character. */
const MAX_PATTERN_STEPS = 30_000_000

/** The object's texts are too long for its schema's patterns. */
export class PatternStepsExceeded extends Error {}

/** Validation is synchronous, so only one object is validated at a time. */
let stepsLeft = 0

/** Called before an object is validated. */
export function resetPatternSteps(): void {
  stepsLeft = MAX_PATTERN_STEPS
}

function matchesPattern(pattern: Pattern, text: string): boolean {
  stepsLeft -= pattern.size * text.length
  if (stepsLeft < 0) throw new PatternStepsExceeded()
  return pattern.test(text)
}

export function checkType(node: SchemaNode, value: unknown, path: string, errors: Errors): boolean {
  if ((node.typeName === '' && node.format === '') || fitsType(node, value)) return true
  if (value === null && node.typeName === '') return true
  const actual = typeOf(value)
  const isScalar = actual !== 'string' && actual !== 'array' && actual !== 'null'
  if (isScalar && node.format !== '') {
    const format = actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : ''
    errors.push(typeInvalid(path, format, `${path} in body must be of type ${node.format}: ${goQuote(format)}`))
  } else {
    errors.push(typeInvalid(path, actual, `${path} in body must be of type ${node.typeName}: ${goQuote(actual)}`))
  }
  return false
}

export function checkString(node: SchemaNode, value: string, path: string, errors: Errors): void {
  const { maxLength, minLength, pattern } = node.schema
  const compiled = node.pattern
  if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength) {
    errors.push(tooLong(path, maxLength))
  } else if (minLength !== undefined && lengthOf(value) < minLength) {
    errors.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`))
  } else if (compiled instanceof Error) {
    const why = `${pattern}, but pattern is invalid: ${compiled.message}`
    errors.push(invalidValue(path, value, `${path} in body should match '${why}'`))
  } else if (compiled && !matchesPattern(compiled, value)) {
    errors.push(invalidValue(path, value, `${path} in body should match '${pattern}'`))
  }
  if (node.checkFormat && !node.checkFormat(value)) {
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${node.format}: ${goQuote(value)}`))
  }
}

/** The length in code points, as Go counts runes. */
function lengthOf(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc_00) === 0xd8_00 && (text.charCodeAt(index + 1) & 0xfc_00) === 0xdc_00)
      length -= 1
  }
  return length
}

export function checkNumber(node: SchemaNode, value: number, path: string, errors: Errors): void {
  const { schema } = node
  const isInteger = isWhole(value)
  const isOutOfRange =
    node.type === 'integer'
      ? !isInteger || (node.format === 'int32' && (value | 0) !== value)
      : node.format === 'float' && Math.abs(value) > 3.402_823_466_385_288_6e38
  if (isOutOfRange) {
    const type = node.format === '' ? `${node.type} (default format)` : `${node.type} with format ${node.format}`
    errors.push(invalidValue('<nil>', '', `Checked value must be of type ${type} in ${path}`))
  }
  // kube-apiserver truncates bounds to compare them with integers.
  const bound = (limit: number): number => (isInteger ? Math.trunc(limit) : limit)
  if (schema.multipleOf !== undefined) {
    const factor = bound(schema.multipleOf)
    if (factor <= 0) {
      errors.push(invalidValue(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`))
    } else if (!isMultiple(value, factor)) {
      errors.push(invalidValue(path, value, `${path} in body should be a multiple of ${factor}`))
    }
  }
  if (schema.minimum !== undefined) {
    const least = bound(schema.minimum)
    if (schema.exclusiveMinimum ? value <= least : value < least) {
      const word = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to'
      errors.push(invalidValue(path, value, `${path} in body should be ${word} ${least}`))
    }
  }
  if (schema.maximum !== undefined) {
    const most = bound(schema.maximum)
    if (schema.exclusiveMaximum ? value >= most : value > most) {
      const word = schema.exclusiveMaximum ? 'less than' : 'less than or equal to'
      errors.push(invalidValue(path, value, `${path} in body should be ${word} ${most}`))
    }
  }
}

/** A float counts as a multiple within Go's relative error. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor
  if (Number.isInteger(quotient)) return true
  const whole = Math.round(quotient)
  if (Number.isInteger(value) && Number.isInteger(factor)) return false
  return Math.abs(quotient - whole) < 1e-9 * Math.max(Math.abs(quotient), Math.abs(whole))
}

export function checkEnum(node: SchemaNode, value: unknown, path: string, errors: Errors): void {
  const allowed = node.schema.enum
  if (!allowed || allowed.length === 0) return
  for (const candidate of allowed) if (isDeepEqual(candidate, value)) return
  errors.push(
    notSupported(
      path,
      value,
      allowed.map((candidate) => (typeof candidate === 'string' ? candidate : goJson(candidate))),
    ),
  )
}

export function checkList(node: SchemaNode, value: readonly unknown[], path: string, errors: Errors): void {
  const { minItems, maxItems, uniqueItems } = node.schema
  if (minItems !== undefined && value.length < minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(path, value.length, maxItems))
  if (uniqueItems && new Set(value.map(goJson)).size < value.length) {
    errors.push(invalidValue(path, '', `${path} in body shouldn't contain duplicates`))
  }
}

export function checkSize(node: SchemaNode, value: JsonObject, path: string, errors: Errors): void {
  const { minProperties, maxProperties } = node.schema
  if (minProperties !== undefined || maxProperties !== undefined) {
    const size = Object.keys(value).length
    if (minProperties !== undefined && size < minProperties) {
      errors.push(invalidValue(path, size, `${path} in body should have at least ${minProperties} properties`))
    }
    if (maxProperties !== undefined && size > maxProperties) errors.push(tooMany(path, size, maxProperties))
  }
  if (node.forbidsAdditional) {
    for (const key of Object.keys(value)) {
      if (!node.property(key)) {
        errors.push(invalidValue(path, key, `${path}.${key} in body is a forbidden property`))
      }
    }
  }
}

export function checkRequired(node: SchemaNode, value: JsonObject, path: string, errors: Errors): void {
  if (!node.required) return
  for (const name of node.required) {
    if (!Object.hasOwn(value, name)) errors.push(required(path === '' ? name : `${path}.${name}`))
  }
}
