import type { Json } from '../../model/json.ts'
import { asJsons, asText, at } from '../../model/json.ts'
import type { ColumnValues } from './kind-table.ts'

export const nameOf = (object: Json): string => asText(at(object, 'metadata', 'name'))

export const createdAt = (object: Json): unknown => at(object, 'metadata', 'creationTimestamp')

export const isBeingDeleted = (object: Json): boolean => at(object, 'metadata', 'deletionTimestamp') !== undefined

export const orNone = (value: unknown): string => asText(value) || '<none>'

/** Names and images of the containers of a pod spec. */
export function containerColumns(podSpec: unknown): [string, string] {
  const containers = asJsons(at(podSpec, 'containers'))
  return [containers.map(({ name }) => asText(name)).join(','), containers.map(({ image }) => asText(image)).join(',')]
}

/** `a,b,c + 2 more...` */
export function listWithMore(all: readonly string[], most: number, separator = ','): string {
  const list = all.slice(0, most).join(separator)
  return all.length > most ? `${list} + ${all.length - most} more...` : list
}

export const nameAndAge: ColumnValues = (object, age) => [nameOf(object), age(createdAt(object))]
