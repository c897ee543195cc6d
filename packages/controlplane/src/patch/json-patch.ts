import { isDeepEqual, isJsonObject, type JsonObject, ownValue, setOwnValue } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import { notApplicable, tooLarge } from './errors.ts'
import { goKind } from './go-format.ts'
import { isList, jsonSize, MAX_DEPTH } from './json.ts'

export const MAX_OPERATIONS = 10_000
/** Bytes that all `copy` operations of one patch may add: the size limit of a request body. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024

interface Operation {
  readonly op: string | undefined
  readonly path: string | undefined
  readonly from: string | undefined
  /** Undefined if absent, which `add` and `replace` treat as null. */
  readonly value: unknown
}

/**
 * RFC 6902 with the deviations of kube-apiserver's library: `replace` of a missing key adds it, `test` of a missing key
 * against null passes, `copy` of a missing key copies null, negative indices count from the end, and the first token of
 * a pointer is ignored.
 */
export function applyJsonPatch(object: KubeObject, operations: unknown): KubeObject {
  const decoded = decode(operations)
  let document: unknown = object
  let copied = 0
  const sizes = new WeakMap<object, number>()
  for (const operation of decoded) {
    const { op, path, from, value } = operation
    switch (op) {
      case 'add':
        document = add(document, pointer(path), value ?? null)
        break
      case 'remove':
        document = remove(document, pointer(path))
        break
      case 'replace':
        document = path === '' ? whole(value) : replace(document, pointer(path), value ?? null)
        break
      case 'move': {
        const tokens = pointer(from)
        const moved = get(document, tokens)
        document = add(remove(document, tokens), pointer(path), moved)
        break
      }
      case 'copy': {
        const taken = get(document, pointer(from)) ?? null
        copied += jsonSize(taken, sizes)
        if (copied > MAX_COPIED_BYTES) throw notApplicable()
        document = add(document, pointer(path), taken)
        break
      }
      case 'test':
        if (!isDeepEqual(path === '' ? document : (get(document, pointer(path)) ?? null), value ?? null)) {
          throw notApplicable()
        }
        break
      default:
        throw notApplicable()
    }
  }
  if (!isJsonObject(document)) throw notApplicable()
  return document
}

function decode(operations: unknown): readonly Operation[] {
  if (operations === null) return []
  if (!isList(operations)) throw undecodable(operations, 'value of type []handlers.jsonPatchOp')
  const decoded = operations.map((operation): Operation => {
    if (operation === null) return { op: undefined, path: undefined, from: undefined, value: undefined }
    if (!isJsonObject(operation)) throw undecodable(operation, 'value of type handlers.jsonPatchOp')
    return {
      op: text(operation, 'op'),
      path: text(operation, 'path'),
      from: text(operation, 'from'),
      value: ownValue(operation, 'value'),
    }
  })
  if (decoded.length > MAX_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${decoded.length}`)
  }
  return decoded
}

function text(operation: JsonObject, key: string): string | undefined {
  const value = ownValue(operation, key)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw undecodable(value, `struct field jsonPatchOp.${key} of type string`)
  return value
}

const undecodable = (value: unknown, into: string): Error =>
  badRequest(`error decoding patch: json: cannot unmarshal ${goKind(value)} into Go ${into}`)

/** The tokens of a pointer, at least one. */
function pointer(path: string | undefined): readonly string[] {
  if (path === undefined) throw notApplicable()
  const tokens = path.split('/').slice(1)
  if (tokens.length === 0 || tokens.length > MAX_DEPTH) throw notApplicable()
  return path.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens
}

function whole(value: unknown): unknown {
  if (!isJsonObject(value) && !isList(value)) throw notApplicable()
  return value
}

/** The value at the tokens; undefined if its container lacks it. */
function get(document: unknown, tokens: readonly string[]): unknown {
  let current = document
  for (const [depth, token] of tokens.entries()) {
    const isLast = depth === tokens.length - 1
    if (isList(current)) current = current[index(token, current.length, current.length - 1)]
    else if (isJsonObject(current)) current = ownValue(current, token)
    else throw notApplicable()
    if (!isLast && (current === undefined || current === null)) throw notApplicable()
  }
  return current
}

/** An index into a list of `length`, at most `last`. */
function index(token: string, length: number, last: number): number {
  if (!/^[+-]?\d{1,15}$/.test(token)) throw notApplicable()
  const given = Number(token)
  const at = given < 0 ? given + length : given
  if (at < 0 || at > last) throw notApplicable()
  return at
}

type Change = (container: JsonObject | readonly unknown[], token: string) => unknown

/** A copy of the document with the innermost container changed. */
function change(document: unknown, tokens: readonly string[], depth: number, changeAt: Change): unknown {
  const token = tokens[depth]
  if (token === undefined || (!isList(document) && !isJsonObject(document))) throw notApplicable()
  if (depth === tokens.length - 1) return changeAt(document, token)
  if (isList(document)) {
    const at = index(token, document.length, document.length - 1)
    return document.with(at, change(document[at], tokens, depth + 1, changeAt))
  }
  const child = ownValue(document, token)
  if (child === undefined) throw notApplicable()
  const copy: Record<string, unknown> = { ...document }
  setOwnValue(copy, token, change(child, tokens, depth + 1, changeAt))
  return copy
}

function add(document: unknown, tokens: readonly string[], value: unknown): unknown {
  return change(document, tokens, 0, (container, token) => {
    if (!isList(container)) return withKey(container, token, value)
    if (token === '-') return [...container, value]
    return container.toSpliced(index(token, container.length + 1, container.length), 0, value)
  })
}

function replace(document: unknown, tokens: readonly string[], value: unknown): unknown {
  return change(document, tokens, 0, (container, token) => {
    if (!isList(container)) return withKey(container, token, value)
    return container.with(index(token, container.length, container.length - 1), value)
  })
}

function remove(document: unknown, tokens: readonly string[]): unknown {
  return change(document, tokens, 0, (container, token) => {
    if (isList(container)) return container.toSpliced(index(token, container.length, container.length - 1), 1)
    if (!Object.hasOwn(container, token)) throw notApplicable()
    const copy: Record<string, unknown> = { ...container }
    delete copy[token]
    return copy
  })
}

function withKey(object: JsonObject, key: string, value: unknown): JsonObject {
  const copy: Record<string, unknown> = { ...object }
  setOwnValue(copy, key, value)
  return copy
}
