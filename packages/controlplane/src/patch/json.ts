/** JSON of a request. Users choose its keys, so reads and writes never go through the prototype. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Maximum nesting: deeper than any real object, shallow enough for recursion. */
export const MAX_DEPTH = 1_000

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** The value of an own key; undefined if it is absent. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an own key, including `__proto__`. */
export function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    target[key] = value
  }
}

/** A copy without the given keys. */
export function omit(object: JsonObject, ...keys: readonly string[]): JsonObject {
  const copy: Record<string, unknown> = { ...object }
  for (const key of keys) delete copy[key]
  return copy
}

export function isEmptyObject(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false
  return true
}

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false
    return true
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  for (const key of keys) if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false
  return true
}

/** Approximate size of a value in bytes of JSON. Shared parts are measured once. */
export function jsonSize(value: unknown, known = new WeakMap<object, number>()): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  const before = known.get(value)
  if (before !== undefined) return before
  let size = 2
  if (isList(value)) for (const item of value) size += jsonSize(item, known) + 1
  else if (isObject(value)) for (const key of Object.keys(value)) size += key.length + 4 + jsonSize(value[key], known)
  known.set(value, size)
  return size
}
