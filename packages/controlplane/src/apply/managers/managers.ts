import { isJsonObject } from '@tenure/kube/model'
import type { ManagedFieldsEntry } from '@tenure/kube'

import { isEmptyObject, isList } from '../../patch/json.ts'
import type { FieldSet } from '../fields/fields.ts'
import { canonicalFields, LEAF, union } from '../fields/fields.ts'
import { compareText } from '../fields/path-element.ts'

export type Operation = 'Apply' | 'Update'

/** A manager and its fields. */
export interface Owner {
  readonly manager: string
  readonly operation: Operation
  /** The version of the fields. */
  readonly apiVersion: string
  readonly subresource: string
  /** Time of the last write; undefined for an applier that changed nothing with its first apply. */
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** Owners by identity. */
export type Owners = ReadonlyMap<string, Owner>

const MAX_UPDATERS = 10
const OLD_UPDATERS = 'ancient-changes'

/** Distinguishes owners; an applier is the same in all versions. Sorts as kube-apiserver sorts owners in conflicts. */
export function identityOf({ manager, operation, apiVersion, subresource }: Omit<Owner, 'time' | 'fields'>): string {
  return JSON.stringify({
    ...(manager && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource && { subresource }),
  })
}

const decoded = new WeakMap<object, Owners>()

/** The owners in stored managedFields. Parsed once per stored version. */
export function ownersOf(entries: readonly ManagedFieldsEntry[] | undefined): Owners {
  if (!entries || entries.length === 0) return new Map()
  const known = decoded.get(entries)
  if (known) return known
  const owners = new Map<string, Owner>()
  for (const entry of entries) {
    const owner = {
      manager: entry.manager ?? '',
      operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields: (entry.fieldsV1 as FieldSet | undefined) ?? LEAF,
    } as const
    owners.set(identityOf(owner), owner)
  }
  decoded.set(entries, owners)
  return owners
}

/** managedFields from a request, as the server would store them; undefined if they are malformed. */
export function sentOwners(sent: unknown): Owners | undefined {
  if (!isList(sent)) return undefined
  try {
    return ownersOf(sent.map(canonicalEntry))
  } catch {
    return undefined
  }
}

function canonicalEntry(sent: unknown): ManagedFieldsEntry {
  if (!isJsonObject(sent)) throw new SyntaxError('an entry must be an object')
  const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 } = sent
  if (operation !== 'Apply' && operation !== 'Update') throw new SyntaxError('operation must be `Apply` or `Update`')
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new SyntaxError('apiVersion must not be empty')
  if (fieldsType !== 'FieldsV1') throw new SyntaxError('fieldsType must be FieldsV1')
  return {
    ...(typeof manager === 'string' && { manager }),
    operation,
    apiVersion,
    ...(typeof time === 'string' && { time }),
    fieldsType,
    fieldsV1: fieldsV1 === undefined || fieldsV1 === null ? LEAF : canonicalFields(fieldsV1),
    ...(typeof subresource === 'string' && { subresource }),
  }
}

/** `[]` and `[{}]` clear all ownership. */
export function asksToClear(sent: unknown): boolean {
  if (!isList(sent)) return false
  const [only] = sent
  return sent.length === 0 || (sent.length === 1 && isJsonObject(only) && isEmptyObject(only))
}

/** The entries of owners: appliers first, then by time, name, version and subresource. */
export function entriesOf(owners: Owners): readonly ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined
  const entries = [...owners.values()]
    .toSorted(byAge)
    .map(({ manager, operation, apiVersion, time, fields, subresource }): ManagedFieldsEntry => ({
      ...(manager && { manager }),
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
      ...(subresource && { subresource }),
    }))
  decoded.set(entries, owners)
  return entries
}

function byAge(a: Owner, b: Owner): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

function seconds({ time }: Owner): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1_000)
}

/** Keeps at most ten updaters: older ones are merged into one per version. */
export function capUpdaters(owners: Owners): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return owners
  updaters.sort(([idA, a], [idB, b]) => seconds(a) - seconds(b) || compareText(idA, idB))
  const capped = new Map(owners)
  const firstOf = new Map<string, string>()
  let left = updaters.length
  for (const [id, owner] of updaters) {
    if (left <= MAX_UPDATERS) break
    const { apiVersion, fields, time } = owner
    const first = firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, id)
      continue
    }
    const old = { manager: OLD_UPDATERS, operation: 'Update', apiVersion, subresource: '' } as const
    const oldId = identityOf(old)
    const before = capped.get(oldId) ?? capped.get(first)
    if (!capped.has(oldId)) capped.delete(first)
    capped.set(oldId, { ...old, time, fields: union(fields, before?.fields ?? LEAF) })
    if (id !== oldId) capped.delete(id)
    left--
  }
  return capped
}
