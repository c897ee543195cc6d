import { isJsonObject, type JsonObject, ownValue, setOwnValue } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import { goKind } from './go-format.ts'
import { isList, MAX_DEPTH } from './json.ts'

/** RFC 7386. Parts that the patch does not touch are shared with the object. */
export function applyMergePatch(object: KubeObject, patch: unknown): KubeObject {
  if (patch === null || patch === undefined) throw badRequest('Invalid JSON Patch')
  if (!isJsonObject(patch)) {
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
    const current = ownValue(object, key)
    if (wanted === null) delete merged[key]
    else if (isJsonObject(wanted) && isJsonObject(current)) setOwnValue(merged, key, merge(current, wanted, depth + 1))
    else setOwnValue(merged, key, isJsonObject(current) ? wanted : withoutNulls(wanted, depth + 1))
  }
  return merged
}

/** A value without the null members of its objects; nulls in lists stay. */
function withoutNulls(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw badRequest('error decoding patch: exceeded max depth')
  if (isList(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isJsonObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    if (value[key] !== null) setOwnValue(kept, key, withoutNulls(value[key], depth + 1))
  }
  return kept
}
