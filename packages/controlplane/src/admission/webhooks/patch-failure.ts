import type { KubeObject } from '@tenure/kube'
import { isJsonObject } from '@tenure/kube/model'
import { applyJsonPatch } from '../../patch/json-patch.ts'
import { goQuote } from '../../schema/go-text.ts'

export type Operations = readonly Readonly<Record<string, unknown>>[]

/** Explains why a patch does not apply, with the messages of the library that kube-apiserver uses for webhook patches. */
export function patchFailure(object: KubeObject, operations: Operations): string {
  let document = object
  for (const operation of operations) {
    try {
      document = applyJsonPatch(document, [operation])
    } catch {
      return describe(document, operation)
    }
  }
  return 'the patch has too many operations or copies too much'
}

function describe(document: KubeObject, { op, path, from }: Operations[number]): string {
  const to = typeof path === 'string' ? path : undefined
  const origin = typeof from === 'string' ? from : undefined
  switch (op) {
    case 'add':
    case 'remove':
      if (to === undefined) return `${op} operation failed to decode path: missing value`
      return inContainer(document, to)
        ? `error in ${op} for path: '${to}': ${lacks(document, to)}`
        : `${op} operation does not apply: doc is missing path: ${goQuote(to)}: missing value`
    case 'replace':
      if (to === undefined) return noPath(op)
      if (to === '') return 'replace operation value must be object or array: %!w(<nil>)'
      return `replace operation does not apply: doc is missing ${inContainer(document, to) ? 'key' : 'path'}: ${to}: missing value`
    case 'test':
      if (to === undefined) return noPath(op)
      return to === '' || inContainer(document, to)
        ? `testing value ${to} failed: test failed`
        : `test operation does not apply: is missing path: ${to}: missing value`
    case 'move':
    case 'copy':
      if (origin === undefined)
        return `${op} operation failed to decode from: operation, missing from field: missing value`
      if (!inContainer(document, origin)) {
        return `${op} operation does not apply: doc is missing from path: ${origin}: missing value`
      }
      if (!has(document, origin)) {
        return op === 'move'
          ? `error in move for path: '${lastOf(origin)}': ${lacks(document, origin)}`
          : `error in copy for from: '${origin}': ${lacks(document, origin)}`
      }
      if (to === undefined) return noPath(op)
      return `${op} operation does not apply: doc is missing destination path: ${to}: missing value`
    default:
      return `Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`
  }
}

const noPath = (op: string): string =>
  `${op} operation failed to decode path: operation missing path field: missing value`

const tokensOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

const lastOf = (path: string): string => tokensOf(path).at(-1) ?? ''

function containerOf(document: unknown, path: string): unknown {
  let value = document
  for (const token of tokensOf(path).slice(0, -1)) {
    if (Array.isArray(value)) value = value.at(Number(token)) as unknown
    else value = isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined
  }
  return value
}

function inContainer(document: unknown, path: string): boolean {
  const container = containerOf(document, path)
  return path.includes('/') && (Array.isArray(container) || isJsonObject(container))
}

function has(document: unknown, path: string): boolean {
  const container = containerOf(document, path)
  const key = lastOf(path)
  if (Array.isArray(container)) return container.at(Number(key)) !== undefined
  return isJsonObject(container) && Object.hasOwn(container, key)
}

function lacks(document: unknown, path: string): string {
  const key = lastOf(path)
  if (!Array.isArray(containerOf(document, path))) return `Unable to remove nonexistent key: ${key}: missing value`
  return /^[+-]?\d+$/.test(key)
    ? `Unable to access invalid index: ${Number(key)}: invalid index referenced`
    : `value was not a proper array index: '${key}': strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`
}
