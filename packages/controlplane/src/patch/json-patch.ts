import { isDeepEqual, isJsonObject, type JsonObject, ownValue } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import { notApplicable, tooLarge } from './errors.ts'
import { goKind } from './go-format.ts'
import { isList, jsonSize, MAX_DEPTH } from './json.ts'
import { JsonDocument } from './json-document.ts'

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
  const document = new JsonDocument(object)
  let copied = 0
  for (const { op, path, from, value } of decode(operations)) {
    switch (op) {
      case 'add':
        document.add(pointer(path), value ?? null)
        break
      case 'remove':
        document.remove(pointer(path))
        break
      case 'replace':
        if (path === '') document.root = whole(value)
        else document.replace(pointer(path), value ?? null)
        break
      case 'move': {
        const moved = document.remove(pointer(from))
        document.add(pointer(path), moved)
        break
      }
      case 'copy': {
        const taken = document.copy(pointer(from)) ?? null
        copied += jsonSize(taken)
        if (copied > MAX_COPIED_BYTES) throw notApplicable()
        document.add(pointer(path), taken)
        break
      }
      case 'test':
        if (!isDeepEqual(path === '' ? document.root : (document.get(pointer(path)) ?? null), value ?? null)) {
          throw notApplicable()
        }
        break
      default:
        throw notApplicable()
    }
  }
  const patched = document.root
  if (!isJsonObject(patched)) throw notApplicable()
  return patched
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
