import { Refusal } from './memory-answer.ts'
import { copyOf, equal, isJson, type Json } from './memory-json.ts'

/** A fieldsV1 tree: `{"f:spec": {"f:replicas": {}}}`. An empty object is a field owned whole. */
export type Fields = { readonly [key: string]: Fields }

/** How a list is told apart: without schemas, by its place or by its items. */
type ListKind = { readonly key: string } | 'set' | 'atomic'

const LISTS_BY_PATH: Readonly<Record<string, ListKind>> = {
  'metadata.finalizers': 'set',
  'metadata.ownerReferences': { key: 'uid' },
  'status.conditions': { key: 'type' },
}

function listKind(path: string, items: readonly unknown[]): ListKind {
  const known = LISTS_BY_PATH[path]
  if (known) return known
  return items.length > 0 && items.every((item) => isJson(item) && typeof item['name'] === 'string')
    ? { key: 'name' }
    : 'atomic'
}

/** What names the object, and what the server sets: nobody owns it. */
const UNOWNED = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.generateName',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.creationTimestamp',
  'metadata.deletionTimestamp',
  'metadata.managedFields',
])

/** The fields that an applied object sets. */
export function fieldsOf(object: Json): Fields {
  return mapFields(object, '')
}

function mapFields(map: Json, path: string): Fields {
  const fields: Record<string, Fields> = {}
  for (const [key, value] of Object.entries(map)) {
    const at = path ? `${path}.${key}` : key
    if (UNOWNED.has(at) || value === undefined) continue
    const inner = valueFields(value, at)
    if (at !== 'metadata' || Object.keys(inner).length > 0) fields[`f:${key}`] = inner
  }
  return fields
}

function valueFields(value: unknown, path: string): Fields {
  if (isJson(value)) return mapFields(value, path)
  if (!Array.isArray(value)) return {}
  const kind = listKind(path, value)
  if (kind === 'atomic') return {}
  return Object.fromEntries(
    value.map((item: unknown) =>
      kind === 'set'
        ? [`v:${JSON.stringify(item)}`, {}]
        : [itemKey(item, kind.key), { '.': {}, ...valueFields(item, path) }],
    ),
  )
}

const itemKey = (item: unknown, key: string): string => `k:${JSON.stringify({ [key]: isJson(item) ? item[key] : '' })}`

/** The live value with the applied one laid over it. */
export function mergeApplied(live: unknown, applied: unknown, path = ''): unknown {
  if (isJson(applied)) {
    const merged: Json = isJson(live) ? { ...live } : {}
    for (const [key, value] of Object.entries(applied)) {
      merged[key] = mergeApplied(merged[key], value, path ? `${path}.${key}` : key)
    }
    return merged
  }
  if (!Array.isArray(applied) || !Array.isArray(live)) return copyOf(applied)
  const kind = listKind(path, applied)
  if (kind === 'atomic') return copyOf(applied)
  const merged: unknown[] = [...(live as unknown[])]
  for (const item of applied as unknown[]) {
    const at = merged.findIndex((other) =>
      kind === 'set' ? other === item : itemKey(other, kind.key) === itemKey(item, kind.key),
    )
    if (at < 0) merged.push(copyOf(item))
    else merged[at] = mergeApplied(merged[at], item, path)
  }
  return merged
}

/** Takes away what `fields` names and none of `kept` does; undefined if that leaves nothing. */
export function withoutFields(value: unknown, fields: Fields, kept: readonly Fields[]): unknown {
  let result = value
  for (const [key, inner] of Object.entries(fields)) {
    if (key === '.') continue
    const keepers = kept.flatMap((tree) => tree[key] ?? [])
    const present = childAt(result, key)
    if (present === undefined) continue
    if (keepers.length === 0) result = withChild(result, key, undefined)
    else if (Object.keys(inner).length > 0) {
      // A keeper that applied an empty map holds the map, not what is in it.
      result = withChild(result, key, withoutFields(present, inner, keepers) ?? (isJson(present) ? {} : []))
    }
  }
  return isEmpty(result) && !isEmpty(value) ? undefined : result
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isJson(value) && Object.keys(value).length === 0

/** The paths at which another manager owns what this object would change, as the server words them. */
export function conflictsOf(
  live: unknown,
  applied: unknown,
  mine: Fields,
  theirs: Fields,
  path = '',
): readonly string[] {
  const found: string[] = []
  for (const [key, inner] of Object.entries(mine)) {
    const other = theirs[key]
    if (key === '.' || !other) continue
    const at = `${path}${key.startsWith('f:') ? `.${key.slice(2)}` : `[${key.slice(2)}]`}`
    // Who applied an empty map holds the map, not what others put in it.
    const isMap = (fields: Fields, value: unknown): boolean => Object.keys(fields).length > 0 || isEmpty(value)
    if (isMap(inner, childAt(applied, key))) {
      found.push(...conflictsOf(childAt(live, key), childAt(applied, key), inner, other, at))
    } else if (!equal(childAt(live, key), childAt(applied, key))) found.push(at)
  }
  return found
}

/** `fields` without the leaves that `taken` has. */
export function subtractFields(fields: Fields, taken: Fields): Fields {
  const left: Record<string, Fields> = {}
  for (const [key, inner] of Object.entries(fields)) {
    const other = taken[key]
    if (!other) left[key] = inner
    else if (Object.keys(inner).length > 0 && Object.keys(other).length > 0) {
      const rest = subtractFields(inner, other)
      if (Object.keys(rest).length > 0) left[key] = rest
    }
  }
  return left
}

function childAt(value: unknown, key: string): unknown {
  if (key.startsWith('f:')) return isJson(value) ? value[key.slice(2)] : undefined
  if (!Array.isArray(value)) return undefined
  return value.find((item: unknown) => isItem(item, key)) as unknown
}

function withChild(value: unknown, key: string, replacement: unknown): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) =>
      isItem(item, key) ? (replacement === undefined ? [] : [replacement]) : [item],
    )
  }
  if (!isJson(value)) return value
  const { [key.slice(2)]: _gone, ...rest } = value
  return replacement === undefined ? rest : { ...rest, [key.slice(2)]: replacement }
}

function isItem(item: unknown, key: string): boolean {
  if (key.startsWith('v:')) return JSON.stringify(item) === key.slice(2)
  const wanted: unknown = JSON.parse(key.slice(2))
  return isJson(wanted) && isJson(item) && Object.entries(wanted).every(([name, value]) => item[name] === value)
}

/** The managedFields with `manager`'s Apply entry replaced, and the object they lead to. */
export function applyObject(
  live: Json | undefined,
  applied: Json,
  by: { readonly manager: string; readonly force: boolean; readonly subresource: string; readonly time: string },
): { readonly object: Json; readonly managedFields: readonly Json[] } {
  const metadata = isJson(live?.['metadata']) ? live['metadata'] : {}
  const entries = (Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : []).filter(isJson)
  const isMine = (entry: Json): boolean =>
    entry['manager'] === by.manager && entry['operation'] === 'Apply' && (entry['subresource'] ?? '') === by.subresource
  const mine = fieldsOf(applied)
  const before = entries.find(isMine)
  const conflicts = entries
    .filter((entry) => !isMine(entry))
    .flatMap((entry) =>
      conflictsOf(live, applied, mine, entry['fieldsV1'] as Fields).map((at) => `"${String(entry['manager'])}": ${at}`),
    )
  if (conflicts.length > 0 && !by.force) {
    throw new Refusal(
      409,
      'Conflict',
      `Apply failed with ${conflicts.length} conflict${conflicts.length > 1 ? 's' : ''}: conflict with ${conflicts.join('\n')}`,
      { causes: conflicts.map((message) => ({ reason: 'FieldManagerConflict', message: `conflict with ${message}` })) },
    )
  }
  const theirs = entries
    .filter((entry) => !isMine(entry))
    .map((entry) => {
      const taken = conflictsOf(live, applied, mine, entry['fieldsV1'] as Fields).length > 0
      return taken ? { ...entry, fieldsV1: subtractFields(entry['fieldsV1'] as Fields, mine) } : entry
    })
  const merged = mergeApplied(live ?? {}, applied)
  const kept = [mine, ...theirs.map((entry) => entry['fieldsV1'] as Fields)]
  const object = before ? withoutFields(merged, before['fieldsV1'] as Fields, kept) : merged
  const same = before && equal(before['fieldsV1'], mine) && live && equal(live, object)
  const entry: Json = {
    manager: by.manager,
    operation: 'Apply',
    apiVersion: applied['apiVersion'],
    time: same ? before['time'] : by.time,
    fieldsType: 'FieldsV1',
    fieldsV1: mine,
    ...(by.subresource && { subresource: by.subresource }),
  }
  const withFields = theirs.filter((other) => Object.keys(other['fieldsV1'] as Json).length > 0)
  return { object: object as Json, managedFields: [...withFields, entry] }
}
