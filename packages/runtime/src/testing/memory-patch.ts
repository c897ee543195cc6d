import { Refusal } from './memory-answer.ts'
import { copyOf, equal, isJson } from './memory-json.ts'

/** RFC 7386. */
export function applyMergePatch(value: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return copyOf(patch)
  const result: Record<string, unknown> = isJson(value) ? { ...value } : {}
  for (const [key, part] of Object.entries(patch)) {
    if (part === null) delete result[key]
    else result[key] = applyMergePatch(result[key], part)
  }
  return result
}

/** RFC 6902. */
export function applyJsonPatch(value: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new Refusal(400, 'BadRequest', 'a JSON patch is a list of operations')
  const root = { '': copyOf(value) }
  for (const operation of operations) applyOperation(root, operation)
  return root['']
}

function applyOperation(root: { '': unknown }, operation: unknown): void {
  if (!isJson(operation) || typeof operation['path'] !== 'string') {
    throw new Refusal(400, 'BadRequest', 'a JSON patch operation needs op and path')
  }
  const at = pointer(operation['path'])
  const from = typeof operation['from'] === 'string' ? pointer(operation['from']) : []
  switch (operation['op']) {
    case 'test':
      if (!equal(read(root, at), operation['value'])) throw unprocessable(`testing value ${operation['path']} failed`)
      return
    case 'add':
      write(root, at, copyOf(operation['value']), 'insert')
      return
    case 'replace':
      read(root, at)
      write(root, at, copyOf(operation['value']), 'replace')
      return
    case 'remove':
      remove(root, at)
      return
    case 'copy':
      write(root, at, copyOf(read(root, from)), 'insert')
      return
    case 'move': {
      const moved = read(root, from)
      remove(root, from)
      write(root, at, moved, 'insert')
      return
    }
    default:
      throw new Refusal(400, 'BadRequest', `no such JSON patch operation: ${String(operation['op'])}`)
  }
}

const unprocessable = (message: string): Refusal =>
  new Refusal(422, 'Invalid', `the server rejected our request: ${message}`)

function pointer(path: string): readonly string[] {
  return path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function parentOf(root: { '': unknown }, path: readonly string[]): { parent: unknown; last: string } {
  let parent: unknown = root
  for (const key of path.slice(0, -1)) parent = child(parent, key)
  return { parent, last: path.at(-1) ?? '' }
}

function child(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return parent[Number(key)]
  return isJson(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined
}

function read(root: { '': unknown }, path: readonly string[]): unknown {
  const { parent, last } = parentOf(root, path)
  const value = child(parent, last)
  if (value === undefined) throw unprocessable(`nothing at ${path.join('/')}`)
  return value
}

function write(root: { '': unknown }, path: readonly string[], value: unknown, mode: 'insert' | 'replace'): void {
  const { parent, last } = parentOf(root, path)
  if (Array.isArray(parent)) {
    const at = last === '-' ? parent.length : Number(last)
    if (!(at >= 0 && at <= parent.length)) throw unprocessable(`no place ${last} in the list`)
    parent.splice(at, mode === 'insert' ? 0 : 1, value)
  } else if (isJson(parent)) parent[last] = value
  else throw unprocessable(`nothing at ${path.slice(0, -1).join('/')}`)
}

function remove(root: { '': unknown }, path: readonly string[]): void {
  read(root, path)
  const { parent, last } = parentOf(root, path)
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else if (isJson(parent)) delete parent[last]
}
