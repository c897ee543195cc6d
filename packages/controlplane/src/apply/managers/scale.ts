import type { ManagedFieldsEntry } from '@tenure/kube'

import { difference, fieldsAt, hasPath, isEmpty } from '../fields/fields.ts'
import type { Owner } from './managers.ts'
import { entriesOf, ownersOf } from './managers.ts'
import type { FieldPath } from '../merge/reset-fields.ts'

const SCALE_VERSION = 'autoscaling/v1'
const SCALE_REPLICAS = ['f:spec', 'f:replicas']

/** The managedFields of an object's Scale: the owners of the object's replicas own those of the Scale. */
export function scaleEntries(
  entries: readonly ManagedFieldsEntry[] | undefined,
  replicas: FieldPath,
): readonly ManagedFieldsEntry[] | undefined {
  const path = elementsOf(replicas)
  const owners = new Map<string, Owner>()
  for (const [identity, owner] of ownersOf(entries)) {
    if (hasPath(owner.fields, path)) {
      owners.set(identity, { ...owner, apiVersion: SCALE_VERSION, fields: fieldsAt(SCALE_REPLICAS) })
    }
  }
  // A copy: the owners are cached for the object's version, and readers of these entries must get those of the Scale.
  return entriesOf(owners)?.slice()
}

/** The managedFields of an object after a write to its Scale with these entries. */
export function entriesAfterScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scaled: readonly ManagedFieldsEntry[] | undefined,
  object: { readonly apiVersion: string; readonly replicas: FieldPath },
): readonly ManagedFieldsEntry[] | undefined {
  const path = elementsOf(object.replicas)
  const scalers = new Map(ownersOf(scaled))
  const owners = new Map<string, Owner>()
  for (const [identity, owner] of ownersOf(entries)) {
    if (!hasPath(owner.fields, path) || scalers.delete(identity)) {
      owners.set(identity, owner)
      continue
    }
    const fields = difference(owner.fields, fieldsAt(path))
    if (!isEmpty(fields)) owners.set(identity, { ...owner, fields })
  }
  for (const [identity, owner] of scalers) {
    if (!hasPath(owner.fields, SCALE_REPLICAS)) continue
    // kube-apiserver sets no time here.
    owners.set(identity, { ...owner, apiVersion: object.apiVersion, time: undefined, fields: fieldsAt(path) })
  }
  return entriesOf(owners)?.slice()
}

const elementsOf = (path: FieldPath): readonly string[] => path.map((name) => `f:${name}`)
