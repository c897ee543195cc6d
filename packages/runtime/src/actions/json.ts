export type JsonMap = Readonly<Record<string, unknown>>

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equality of JSON values. A field that is undefined is not there. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isDeepEqual(item, b[index]))
  }
  if (!isMap(a) || !isMap(b)) return false
  let count = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (!isDeepEqual(a[key], b[key])) return false
    count++
  }
  for (const key in b) if (b[key] !== undefined) count--
  return count === 0
}
