import { asArray, asJsonObject, isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'
import { mergePatch } from './memory-patch.ts'

/** A fieldsV1 tree: `{"f:spec": {"f:replicas": {}}}`. */
type FieldTree = { readonly [key: string]: FieldTree }

/** Fields that name the object or that the server sets. */
const UNOWNED = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.uid'])

/**
 * A simplified server-side apply: maps merge, lists are replaced as a whole, and fields that the manager no longer
 * applies are removed unless another manager applies them. There are no conflicts.
 */
export function applyObject(
  live: JsonObject | undefined,
  applied: JsonObject,
  by: { readonly manager: string; readonly subresource: string; readonly time: string },
): JsonObject {
  const entries = asArray(asJsonObject(live?.['metadata'])['managedFields']).filter(isJsonObject)
  const isOwn = (entry: JsonObject): boolean =>
    entry['manager'] === by.manager && (entry['subresource'] ?? '') === by.subresource
  const before = entries.find(isOwn)
  const others = entries.filter((entry) => !isOwn(entry))
  const fields = fieldsOf(applied, '')
  const kept = [fields, ...others.map((entry) => entry['fieldsV1'] as FieldTree)]
  const merged = mergePatch(live ?? {}, applied)
  const object = asJsonObject(before ? withoutFields(merged, before['fieldsV1'] as FieldTree, kept) : merged)
  const isSame = before && isDeepEqual(before['fieldsV1'], fields) && isDeepEqual(live, object)
  const entry = {
    manager: by.manager,
    operation: 'Apply',
    apiVersion: applied['apiVersion'],
    time: isSame ? before['time'] : by.time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(by.subresource && { subresource: by.subresource }),
  }
  return { ...object, metadata: { ...asJsonObject(object['metadata']), managedFields: [...others, entry] } }
}

function fieldsOf(map: JsonObject, path: string): FieldTree {
  const fields: Record<string, FieldTree> = {}
  for (const [key, value] of Object.entries(map)) {
    const at = path ? `${path}.${key}` : key
    if (value === undefined || UNOWNED.has(at)) continue
    const inner = isJsonObject(value) ? fieldsOf(value, at) : {}
    if (at !== 'metadata' || Object.keys(inner).length > 0) fields[`f:${key}`] = inner
  }
  return fields
}

/** Removes the fields that no tree of `kept` contains. */
function withoutFields(value: unknown, fields: FieldTree, kept: readonly FieldTree[]): unknown {
  if (!isJsonObject(value)) return value
  const result: Record<string, unknown> = { ...value }
  for (const [field, inner] of Object.entries(fields)) {
    const key = field.slice(2)
    const owners = kept.flatMap((tree) => tree[field] ?? [])
    if (owners.length === 0) delete result[key]
    else if (Object.keys(inner).length > 0) result[key] = withoutFields(result[key], inner, owners)
  }
  return result
}
