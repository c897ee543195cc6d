/** JSON values as the registry handles them: immutable, compared by content. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equal by content; the order of keys does not matter. Parts that are the same object cost nothing. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  }
  if (Array.isArray(b)) return false
  const left = a as JsonObject
  const right = b as JsonObject
  let count = 0
  for (const key in left) {
    if (left[key] === undefined) continue
    count++
    if (!Object.hasOwn(right, key) || !isEqual(left[key], right[key])) return false
  }
  for (const key in right) if (right[key] !== undefined) count--
  return count === 0
}

/** `object` without one field; the object itself if it has none such. */
export function without<T extends object>(object: T, key: string): T {
  if (!Object.hasOwn(object, key)) return object
  const { [key]: _, ...rest } = object as Record<string, unknown>
  return rest as T
}

/** The value at a dotted path, which may begin with a dot. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object
  for (const key of path.split('.')) {
    if (key === '') continue
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/** A copy with the value at a dotted path replaced. */
export function withValueAt<T>(object: T, path: string, value: unknown): T {
  const keys = path.split('.').filter((key) => key !== '')
  const place = (target: unknown, at: number): unknown => {
    const key = keys[at]
    if (key === undefined) return value
    const record = isObject(target) ? target : {}
    return { ...record, [key]: place(Object.hasOwn(record, key) ? record[key] : undefined, at + 1) }
  }
  return place(object, 0) as T
}
