import { isDeepEqual, isJsonObject } from '@tenure/kube/model'

import { invalidValue } from '../field-errors.ts'
import { goQuote } from '../go-text.ts'
import type { FieldError } from '../types.ts'
import { checkEnum, checkList, checkNumber, checkRequired, checkSize, checkString, checkType } from './checks.ts'
import { correlator } from './correlate.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * allOf, anyOf, oneOf and not. If all alternatives fail, the errors of the one with the most passed checks are reported,
 * counted as kube-apiserver counts them.
 */

interface Result {
  readonly errors: FieldError[]
  /** The number of passed checks. */
  matched: number
}

/** Checks `value` against the composites of `node`. Parts that equal `old` are not reported. */
export function checkComposites(
  node: SchemaNode,
  value: unknown,
  path: string,
  old: unknown,
  errors: FieldError[],
): number {
  const result: Result = { errors, matched: 1 }
  const { allOf, anyOf, oneOf, not } = node.composites
  if (anyOf.length > 0) checkAnyOf(anyOf, value, path, old, result)
  if (oneOf.length > 0) checkOneOf(oneOf, value, path, old, result)
  if (allOf.length > 0) checkAllOf(allOf, value, path, old, result)
  if (not && validate(not, value, path, old).errors.length === 0) {
    errors.push(general(`${goQuote(path)} must not validate the schema (not)`))
  }
  return result.matched
}

function checkAnyOf(nodes: readonly SchemaNode[], value: unknown, path: string, old: unknown, into: Result): void {
  let best: Result | undefined
  for (const node of nodes) {
    const result = validate(node, value, path, old)
    if (result.errors.length === 0) {
      into.matched += result.matched
      return
    }
    if (!best || result.matched > best.matched) best = result
  }
  into.errors.push(general(`${goQuote(path)} must validate at least one schema (anyOf)`))
  merge(into, best)
}

function checkOneOf(nodes: readonly SchemaNode[], value: unknown, path: string, old: unknown, into: Result): void {
  const results = nodes.map((node) => validate(node, value, path, old))
  const valid = results.filter(({ errors }) => errors.length === 0)
  if (valid.length === 1) {
    merge(into, valid[0])
    return
  }
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
  into.errors.push(general(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`))
  if (valid.length > 0) return
  let best: Result | undefined
  for (const result of results) if (!best || result.matched > best.matched) best = result
  merge(into, best)
}

function checkAllOf(nodes: readonly SchemaNode[], value: unknown, path: string, old: unknown, into: Result): void {
  let valid = 0
  for (const node of nodes) {
    const result = validate(node, value, path, old)
    if (result.errors.length === 0) valid += 1
    merge(into, result)
  }
  if (valid === nodes.length) return
  const none = valid === 0 ? '. None validated' : ''
  into.errors.push(general(`${goQuote(path)} must validate all the schemas (allOf)${none}`))
}

function merge(into: Result, from: Result | undefined): void {
  if (!from) return
  for (const error of from.errors) into.errors.push(error)
  into.matched += from.matched
}

/** kube-apiserver reports these without a field. */
function general(detail: string): FieldError {
  return invalidValue('<nil>', '', detail)
}

/** Validates `value` and its children without changing them. */
function validate(node: SchemaNode, value: unknown, path: string, old: unknown): Result {
  const result: Result = { errors: [], matched: 0 }
  const { errors } = result
  const isTyped = node.typeName !== '' || node.format !== ''
  if (value === null) {
    if (checkType(node, value, path, errors)) result.matched += 1
    checkEnum(node, value, path, errors)
    return ratchet(result, value, old)
  }
  if (isTyped) result.matched += checkType(node, value, path, errors) ? 2 : 1
  result.matched += 1 + (node.hasComposites ? checkComposites(node, value, path, old, errors) : 1)
  if (typeof value === 'string') {
    checkString(node, value, path, errors)
    result.matched += node.checkFormat ? 2 : 1
  } else if (typeof value === 'number') {
    checkNumber(node, value, path, errors)
    result.matched += 2
  } else if (Array.isArray(value)) {
    const { items } = node
    if (items) {
      const find = correlator(node, old)
      value.forEach((item, index) => {
        merge(result, validate(items, item, `${path}[${index}]`, itemAt(old, find(item))))
      })
    }
    checkList(node, value, path, errors)
    result.matched += 2
  }
  checkEnum(node, value, path, errors)
  result.matched += 1
  if (isJsonObject(value)) {
    checkSize(node, value, path, errors)
    const oldObject = isJsonObject(old) ? old : undefined
    for (const [key, item] of Object.entries(value)) {
      const child = node.property(key) ?? node.additional
      if (child) merge(result, validate(child, item, path === '' ? key : `${path}.${key}`, oldObject?.[key]))
    }
    checkRequired(node, value, path, errors)
    result.matched += 1
  }
  result.matched += 1
  return ratchet(result, value, old)
}

const itemAt = (list: unknown, index: number): unknown => (Array.isArray(list) && index >= 0 ? list[index] : undefined)

/** Ratcheting: drops the errors of a value that did not change. */
function ratchet(result: Result, value: unknown, old: unknown): Result {
  if (result.errors.length > 0 && old !== undefined && isDeepEqual(value, old)) result.errors.length = 0
  return result
}
