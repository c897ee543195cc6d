import type { KubeObject } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import { goKind } from './go-format.ts'
import type { JsonObject } from './json.ts'
import { isList, isObject, MAX_DEPTH, own, put } from './json.ts'

/** RFC 7386. Parts that the patch does not touch are shared with the object. */
export function applyMergePatch(object: KubeObject, patch: unknown): KubeObject {
  if (patch === null || patch === undefined) throw badRequest('Invalid JSON Patch')
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return merge({ ...object }, patch, 0)
}

function merge(object: JsonObject, patch: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw badRequest('error decoding patch: exceeded max depth')
  const merged: Record<string, unknown> = { ...object }
  for (const key of Object.keys(patch)) {
    const wanted = patch[key]
    const current = own(object, key)
    if (wanted === null) delete merged[key]
    else if (isObject(wanted) && isObject(current)) put(merged, key, merge(current, wanted, depth + 1))
    else put(merged, key, isObject(current) ? wanted : withoutNulls(wanted, depth + 1))
  }
  return merged
}

/** A value without the null members of its objects; nulls in lists stay. */
function withoutNulls(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw badRequest('error decoding patch: exceeded max depth')
  if (isList(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    if (value[key] !== null) put(kept, key, withoutNulls(value[key], depth + 1))
  }
  return kept
}
