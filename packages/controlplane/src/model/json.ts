import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, isJsonObject } from '@tenure/kube/model'

export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** Returns a list of objects; items of other types become empty objects. */
export function asJsonObjects(value: unknown): readonly JsonObject[] {
  return asArray(value).map(asJsonObject)
}

/** Returns whether Go sees the value as unset: absent, null, empty string or 0. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0
}

export const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Returns the indexes of values that occurred before, in linear time. */
export function repeats(values: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const repeated = new Set<number>()
  values.forEach((value, index) => {
    if (seen.has(value)) repeated.add(index)
    else seen.add(value)
  })
  return repeated
}

/** Returns `object` with the fields of `defaults` that are absent or null; itself if there are none. */
export function filled<T extends object>(object: T, defaults: JsonObject): T {
  let result: Record<string, unknown> | undefined
  const known = object as JsonObject
  for (const [key, value] of Object.entries(defaults)) {
    if (value !== undefined && (known[key] === undefined || known[key] === null)) {
      result ??= { ...known }
      result[key] = value
    }
  }
  return (result ?? object) as T
}

/** As `filled`, but an empty string and 0 also count as unset, as for Go fields that are not pointers. */
export function filledUnset<T extends object>(object: T, defaults: JsonObject): T {
  let result: Record<string, unknown> | undefined
  const known = object as JsonObject
  for (const [key, value] of Object.entries(defaults)) {
    if (value !== undefined && isUnset(known[key])) {
      result ??= { ...known }
      result[key] = value
    }
  }
  return (result ?? object) as T
}

/** Returns `object` with `value` at `key`; itself if unchanged. Undefined removes the field. */
export function withField<T extends object>(object: T, key: string, value: unknown): T {
  const known = object as JsonObject
  if (known[key] === value) return object
  if (value === undefined) {
    if (!Object.hasOwn(known, key)) return object
    const { [key]: _, ...rest } = known
    return rest as T
  }
  return { ...known, [key]: value } as T
}

/** Applies `change` to the object at `key`, if there is one. */
export function withinField<T extends object>(object: T, key: string, change: (value: JsonObject) => JsonObject): T {
  const value = (object as JsonObject)[key]
  return isJsonObject(value) ? withField(object, key, change(value)) : object
}

/** Applies `change` to each object in the list at `key`. Returns `object` itself if nothing changed. */
export function withinItems<T extends object>(object: T, key: string, change: (item: JsonObject) => JsonObject): T {
  const list = (object as JsonObject)[key]
  if (!Array.isArray(list)) return object
  let changed = false
  const result = list.map((item: unknown) => {
    if (!isJsonObject(item)) return item
    const next = change(item)
    changed ||= next !== item
    return next
  })
  return changed ? withField(object, key, result) : object
}

const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.values(value).every((field) => field === undefined))

/** Deep equality as Kubernetes defines it: absent, null, an empty list and an empty object are equal. */
export function isSemanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isEmptyValue(a) && isEmptyValue(b))) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSemanticallyEqual(item, b[index]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const own = Object.hasOwn(a, key) ? a[key] : undefined
    const other = Object.hasOwn(b, key) ? b[key] : undefined
    if (!isSemanticallyEqual(own, other)) return false
  }
  return true
}
