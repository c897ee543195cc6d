import { isJsonObject, type JsonObject } from '@tenure/kube/model'

/** Maximum nesting: deeper than any real object, shallow enough for recursion. */
export const MAX_DEPTH = 1_000

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** A copy without the given keys. */
export function omit(object: JsonObject, keys: readonly string[]): JsonObject {
  const copy: Record<string, unknown> = { ...object }
  for (const key of keys) delete copy[key]
  return copy
}

export function isEmptyObject(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false
  return true
}

/** Approximate size of a value in bytes of JSON. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  let size = 2
  if (isList(value)) for (const item of value) size += jsonSize(item) + 1
  else if (isJsonObject(value)) for (const key of Object.keys(value)) size += key.length + 4 + jsonSize(value[key])
  else return 5
  return size
}
