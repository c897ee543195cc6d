import { isJsonObject } from '@tenure/kube/model'

/** The value at a dotted path, which may begin with a dot: the paths of a CRD's scale subresource. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object
  for (const key of path.split('.')) {
    if (key === '') continue
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
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
    const record = isJsonObject(target) ? target : {}
    return { ...record, [key]: place(Object.hasOwn(record, key) ? record[key] : undefined, at + 1) }
  }
  return place(object, 0) as T
}
