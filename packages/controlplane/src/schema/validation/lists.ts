import { isJsonObject } from '@tenure/kube/model'

import { duplicate, invalidValue } from '../field-errors.ts'
import { goJson } from '../go-text.ts'
import type { FieldError } from '../types.ts'
import type { SchemaNode } from './schema-node.ts'

/** Reports duplicates in lists of type set or map, each once, at its second index. */
export function checkListType(node: SchemaNode, value: readonly unknown[], path: string, errors: FieldError[]): void {
  if (node.listType === 'set') {
    for (const index of repeated(value)) errors.push(duplicate(`${path}[${index}]`, value[index]))
    return
  }
  if (node.listType !== 'map') return
  const stranger = value.findIndex((item) => item !== null && !isJsonObject(item))
  if (stranger >= 0) {
    const why = 'must be an object for an array of list-type map'
    errors.push(invalidValue(`${path}[${stranger}]`, value[stranger], why))
    return
  }
  if (value.length < 2) return
  const [only] = node.listMapKeys
  // With one key its values are compared directly, without building a string.
  const keys =
    node.listMapKeys.length === 1 && only !== undefined
      ? value.map((item) => (isJsonObject(item) && Object.hasOwn(item, only) ? item[only] : undefined))
      : value.map((item) => node.listMapKeys.map((key) => (isJsonObject(item) ? JSON.stringify(item[key]) : '')).join())
  for (const index of repeated(keys)) errors.push(duplicate(`${path}[${index}]`, keyOf(node, value[index])))
}

function keyOf(node: SchemaNode, item: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(item)) return {}
  return Object.fromEntries(node.listMapKeys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]))
}

function repeated(values: readonly unknown[]): number[] {
  if (values.length < 2) return []
  const times = new Map<unknown, number>()
  const indexes: number[] = []
  values.forEach((value, index) => {
    const key = typeof value === 'object' && value !== null ? `\u0000${goJson(value)}` : value
    const seen = times.get(key) ?? 0
    times.set(key, seen + 1)
    if (seen === 1) indexes.push(index)
  })
  return indexes
}
