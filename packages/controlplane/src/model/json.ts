/** A JSON object with unknown fields. */
export type Json = Readonly<Record<string, unknown>>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asJson(value: unknown): Json {
  return isJson(value) ? value : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** Returns a list of objects; items of other types become empty objects. */
export function asJsons(value: unknown): readonly Json[] {
  return asList(value).map(asJson)
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

/** Returns the value at a path of field names, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const key of path) {
    if (!isJson(current) || !Object.hasOwn(current, key)) return undefined
    current = current[key]
  }
  return current
}

/** Returns `object` with the fields of `defaults` that are absent or null; itself if there are none. */
export function filled<T extends object>(object: T, defaults: Json): T {
  let result: Record<string, unknown> | undefined
  const known = object as Json
  for (const [key, value] of Object.entries(defaults)) {
    if (value !== undefined && (known[key] === undefined || known[key] === null)) {
      result ??= { ...known }
      result[key] = value
    }
  }
  return (result ?? object) as T
}

/** As `filled`, but an empty string and 0 also count as unset, as for Go fields that are not pointers. */
export function filledUnset<T extends object>(object: T, defaults: Json): T {
  let result: Record<string, unknown> | undefined
  const known = object as Json
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
  const known = object as Json
  if (known[key] === value) return object
  if (value === undefined) {
    if (!Object.hasOwn(known, key)) return object
    const { [key]: _, ...rest } = known
    return rest as T
  }
  return { ...known, [key]: value } as T
}

/** Applies `change` to the object at `key`, if there is one. */
export function withinField<T extends object>(object: T, key: string, change: (value: Json) => Json): T {
  const value = (object as Json)[key]
  return isJson(value) ? withField(object, key, change(value)) : object
}

/** Applies `change` to each object in the list at `key`. Returns `object` itself if nothing changed. */
export function withinItems<T extends object>(object: T, key: string, change: (item: Json) => Json): T {
  const list = (object as Json)[key]
  if (!Array.isArray(list)) return object
  let changed = false
  const result = list.map((item: unknown) => {
    if (!isJson(item)) return item
    const next = change(item)
    changed ||= next !== item
    return next
  })
  return changed ? withField(object, key, result) : object
}

/** Deep equality of JSON; an absent field equals an undefined one. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  }
  if (!isJson(a) || !isJson(b)) return false
  const keys = Object.keys(a)
  for (const key of keys) if (!isEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false
  return true
}

const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isJson(value) && Object.values(value).every((field) => field === undefined))

/** Deep equality as Kubernetes defines it: absent, null, an empty list and an empty object are equal. */
export function isSemanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isEmptyValue(a) && isEmptyValue(b))) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSemanticallyEqual(item, b[index]))
  }
  if (!isJson(a) || !isJson(b)) return false
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const own = Object.hasOwn(a, key) ? a[key] : undefined
    const other = Object.hasOwn(b, key) ? b[key] : undefined
    if (!isSemanticallyEqual(own, other)) return false
  }
  return true
}
