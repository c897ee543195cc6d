/** A JSON object whose fields are not known. Users choose its keys, so only own properties are read or written. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `value` if it is a JSON object, otherwise an empty one. */
export function asJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** `value` if it is an array, otherwise an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** `value` if it is a string, otherwise the empty string. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value of an own key, undefined if the object has no such key. */
export function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an own key, also one named `__proto__`. */
export function setOwnValue(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else target[key] = value
}

/** The value at a path of keys, undefined where the path ends early. */
export function valueAtPath(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const key of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, key)) return undefined
    current = current[key]
  }
  return current
}

/** `object` without one field; the same object if it has no such field. */
export function withoutField<T extends object>(object: T, key: string): T {
  if (!Object.hasOwn(object, key)) return object
  const { [key]: _, ...rest } = object as Record<string, unknown>
  return rest as T
}

/** Deep equality of JSON values, in any order of keys. An undefined field equals an absent one. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let index = 0; index < a.length; index++) if (!isDeepEqual(a[index], b[index])) return false
    return true
  }
  if (Array.isArray(b)) return false
  const left = a as JsonObject
  const right = b as JsonObject
  let count = 0
  for (const key in left) {
    const value = left[key]
    if (value === undefined) continue
    // Of inherited properties only `__proto__` could equal a JSON value.
    if (!isDeepEqual(value, right[key]) || (key === '__proto__' && !Object.hasOwn(right, key))) return false
    count++
  }
  for (const key in right) if (right[key] !== undefined) count--
  return count === 0
}
