import { isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'
import { ItemIndex } from './item-index.ts'
import { isServerEqual } from './server-values.ts'

/**
 * A fieldsV1 tree as in managedFields: `f:name` is a field, `k:{…}` the list item with these keys, `v:…` the set item
 * with this value, `i:0` an item by index, `.` the value itself. An empty node is owned as a whole.
 */
export type OwnedFields = JsonObject

/** Applied fields that get no owner: they identify the object or belong to the server. */
const UNOWNED = new Set(['apiVersion', 'kind'])
const UNOWNED_METADATA = new Set([
  'name',
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
])

/** Compares a value that is owned as a whole with the applied one. `key` and `parent` name its field. */
type Equality = (desired: unknown, live: unknown, key: string, parent: string) => boolean

/**
 * True if applying `desired` would change nothing: the owned `fields` are exactly those of `desired`, and the live
 * object has the same values. For a built-in kind, known rewrites of the server (`1000m` as `1`) count as equal. False
 * may also mean that the answer is unknown.
 */
export function isApplied(fields: OwnedFields, desired: JsonObject, live: JsonObject, isBuiltIn = false): boolean {
  return sameValue(fields, ownable(desired), live, isBuiltIn ? isServerEqual : isDeepEqual, '', '')
}

/** The live values of all fields in `fields` as text: two texts differ if any value does. */
export function projection(fields: OwnedFields, live: unknown): string {
  const names = Object.keys(fields)
  if (names.length === 0) return JSON.stringify(live) ?? ''
  const items = Array.isArray(live) ? new ItemIndex(live) : undefined
  let text = '{'
  for (const name of names) {
    if (name === '.') text += live === undefined ? '-' : '.'
    else {
      const child = items ? (live as readonly unknown[])[items.find(name)] : fieldOf(live, name)
      text += `${name}=${projection(fields[name] as OwnedFields, child)};`
    }
  }
  return `${text}}`
}

function ownable(desired: JsonObject): JsonObject {
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(desired)) {
    if (value === undefined || UNOWNED.has(name)) continue
    if (name !== 'metadata' || !isJsonObject(value)) {
      rest[name] = value
      continue
    }
    const metadata = Object.entries(value).filter(([key, inner]) => inner !== undefined && !UNOWNED_METADATA.has(key))
    if (metadata.length > 0) rest[name] = Object.fromEntries(metadata)
  }
  return rest
}

function sameValue(
  fields: OwnedFields,
  desired: unknown,
  live: unknown,
  isEqual: Equality,
  key: string,
  parent: string,
): boolean {
  const names = Object.keys(fields)
  if (names.length === 0) {
    // Servers drop empty values. Ownership proves that the value was applied and not changed since.
    return live === undefined ? isEmpty(desired) : isEqual(desired, live, key, parent)
  }
  if (Array.isArray(desired)) return Array.isArray(live) && sameList(fields, names, desired, live, isEqual, key)
  return isJsonObject(desired) && isJsonObject(live) && sameMap(fields, names, desired, live, isEqual, key)
}

function sameMap(
  fields: OwnedFields,
  names: readonly string[],
  desired: JsonObject,
  live: JsonObject,
  isEqual: Equality,
  parent: string,
): boolean {
  let owned = 0
  for (const name of names) {
    if (name === '.') continue
    if (!name.startsWith('f:')) return false
    const key = name.slice(2)
    if (desired[key] === undefined) return false
    if (!sameValue(fields[name] as OwnedFields, desired[key], live[key], isEqual, key, parent)) return false
    owned++
  }
  // Every owned field matched a different desired one: equal counts mean that all matched.
  for (const key in desired) if (desired[key] !== undefined) owned--
  return owned === 0
}

function sameList(
  fields: OwnedFields,
  names: readonly string[],
  desired: readonly unknown[],
  live: readonly unknown[],
  isEqual: Equality,
  key: string,
): boolean {
  /** Index in the live list of each desired item. */
  const places: (number | undefined)[] = desired.map(() => undefined)
  const [desiredItems, liveItems] = [new ItemIndex(desired), new ItemIndex(live)]
  let owned = 0
  for (const name of names) {
    if (name === '.') continue
    const exact = desiredItems.find(name)
    const at = exact < 0 ? desiredItems.takeWithDefaults(name) : exact
    const place = liveItems.find(name)
    if (at < 0 || place < 0) return false
    if (!sameValue(fields[name] as OwnedFields, desired[at], live[place], isEqual, key, '')) return false
    places[at] = place
    owned++
  }
  if (owned !== desired.length) return false
  // An apply also orders its items.
  return places.every((place, index) => index === 0 || (places[index - 1] ?? 0) < (place ?? 0))
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) ? Object.keys(value).length === 0 : !value
}

function fieldOf(value: unknown, name: string): unknown {
  return name.startsWith('f:') && isJsonObject(value) ? value[name.slice(2)] : undefined
}
