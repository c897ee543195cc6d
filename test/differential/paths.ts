/** Paths into a response: `metadata.name`, or `paths>/api/v1/pods>get` if keys contain dots. */
import type { Json } from './case.ts'

const keysOf = (path: string): readonly string[] => path.split(path.includes('>') ? '>' : '.')

export const isRecord = (value: unknown): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns an array item by its index or its name. */
function item(list: readonly Json[], key: string): Json | undefined {
  if (/^\d+$/.test(key)) return list[Number(key)]
  return list.find((candidate) => {
    if (!isRecord(candidate)) return false
    const metadata = candidate['metadata']
    const names = [
      candidate['name'],
      candidate['resource'],
      candidate['version'],
      isRecord(metadata) && metadata['name'],
    ]
    return names.includes(key)
  })
}

export function valueAt(value: Json | undefined, path: string): Json | undefined {
  let current = value
  for (const key of keysOf(path)) {
    if (Array.isArray(current)) current = item(current as readonly Json[], key)
    else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

/** Returns the value without the part at the path; `*` matches any key. */
export function without(value: Json, path: string): Json {
  return remove(value, keysOf(path))
}

function remove(value: Json, [key, ...rest]: readonly string[]): Json {
  if (key === undefined) return value
  const isHere = (name: string): boolean => key === '*' || key === name
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((child, index) => (isHere(String(index)) ? remove(child, rest) : child))
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([name]) => rest.length > 0 || !isHere(name))
  return Object.fromEntries(entries.map(([name, child]) => [name, isHere(name) ? remove(child, rest) : child]))
}
