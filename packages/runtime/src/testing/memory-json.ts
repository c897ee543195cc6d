/** Plain JSON, as a request's body holds it. */
export type Json = Record<string, unknown>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A child that is an object, or an empty one. */
export function childOf(value: unknown, key: string): Json {
  const child = isJson(value) ? value[key] : undefined
  return isJson(child) ? child : {}
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A deep, changeable copy. */
export function copyOf<T>(value: T): T {
  return structuredClone(value)
}

/** Equal as JSON, whatever the order of keys; a key that is undefined is not there. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => equal(item, b[at]))
  }
  if (!isJson(a) || !isJson(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]))
}
