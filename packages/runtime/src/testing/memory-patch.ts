import { isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'
import { RequestError } from './responses.ts'

/** RFC 7386. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return structuredClone(patch)
  const result: Record<string, unknown> = isJsonObject(value) ? { ...value } : {}
  for (const [key, part] of Object.entries(patch)) {
    if (part === null) delete result[key]
    else result[key] = mergePatch(result[key], part)
  }
  return result
}

type Operation = { readonly op: string; readonly path: string; readonly value?: unknown }

/** The operations of RFC 6902 that the runtime sends: `test`, `add`, `replace` and `remove`. */
export function jsonPatch(value: JsonObject, operations: readonly Operation[]): unknown {
  const root = { '': structuredClone(value) as unknown }
  for (const { op, path, value: operand } of operations) {
    const keys = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop() ?? ''
    let parent: unknown = root
    for (const key of keys) parent = childOf(parent, key)
    if (op === 'test' && !isDeepEqual(childOf(parent, last), operand)) throw invalid(`testing value ${path} failed`)
    if (op === 'test') continue
    if (typeof parent !== 'object' || parent === null) throw invalid(`nothing at ${path}`)
    if (op !== 'add' && childOf(parent, last) === undefined) throw invalid(`nothing at ${path}`)
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : Number(last)
      parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [operand]))
    } else if (op === 'remove') Reflect.deleteProperty(parent, last)
    else Reflect.set(parent, last, operand)
  }
  return root['']
}

function childOf(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return parent[Number(key)]
  return isJsonObject(parent) ? parent[key] : undefined
}

function invalid(message: string): RequestError {
  return new RequestError(422, 'Invalid', `the server rejected our request: ${message}`)
}
