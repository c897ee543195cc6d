import type { JsonObject } from '@tenure/kube/model'
import { asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'
import type { ColumnValues } from './kind-table.ts'

export const nameOf = (object: JsonObject): string => asString(valueAtPath(object, 'metadata', 'name'))

export const createdAt = (object: JsonObject): unknown => valueAtPath(object, 'metadata', 'creationTimestamp')

export const isBeingDeleted = (object: JsonObject): boolean =>
  valueAtPath(object, 'metadata', 'deletionTimestamp') !== undefined

export const orNone = (value: unknown): string => asString(value) || '<none>'

/** Names and images of the containers of a pod spec. */
export function containerColumns(podSpec: unknown): [string, string] {
  const containers = asJsonObjects(valueAtPath(podSpec, 'containers'))
  return [
    containers.map(({ name }) => asString(name)).join(','),
    containers.map(({ image }) => asString(image)).join(','),
  ]
}

/** `a,b,c + 2 more...` */
export function listWithMore(all: readonly string[], most: number, separator = ','): string {
  const list = all.slice(0, most).join(separator)
  return all.length > most ? `${list} + ${all.length - most} more...` : list
}

export const nameAndAge: ColumnValues = (object, age) => [nameOf(object), age(createdAt(object))]
