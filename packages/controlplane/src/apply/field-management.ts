import { asString } from '@tenure/kube/model'
import type { KubeObject, ManagedFieldsEntry } from '@tenure/kube'

import { badRequest } from '../errors.ts'
import { unclassified } from '../patch/errors.ts'
import { isList } from '../patch/json.ts'
import { compare } from './merge/compare.ts'
import type { Conflict } from './managers/conflicts.ts'
import { conflictError, NEVER_OWNED } from './managers/conflicts.ts'
import { fieldSetOf } from './fields/field-set.ts'
import type { FieldSet } from './fields/fields.ts'
import {
  difference,
  fieldsEqual,
  hasPath,
  intersection,
  isEmpty,
  LEAF,
  recursiveDifference,
  union,
} from './fields/fields.ts'
import { unchangedSinceLastApplied, withLastApplied } from './managers/last-applied.ts'
import type { Operation, Owner, Owners } from './managers/managers.ts'
import { asksToClear, capUpdaters, entriesOf, identityOf, ownersOf, sentOwners } from './managers/managers.ts'
import { mergeApplied } from './merge/merge.ts'
import { pruneDropped } from './merge/prune.ts'
import { underSchema } from './merge/schema-change.ts'
import { defaultResetFields, resetSet } from './merge/reset-fields.ts'
import type { Structure } from './fields/structure.ts'
import { isBuiltIn, structureOf } from './fields/structure.ts'
import type { ApplyRequest, FieldManagement, ManagedContext, UpdateRequest } from './types.ts'
import { typeErrors } from './validate-applied.ts'
import { zeroValueOf } from './zero-values.ts'

const BEFORE_FIRST_APPLY = 'before-first-apply'
const KUBECTL = 'kubectl'

export const fieldManagement: FieldManagement = { apply, update }

function update(request: UpdateRequest): KubeObject {
  const { live, next } = request
  const structure = structureOf(request.schema, request.resolve)
  const owners = ownersBefore(request)
  // An untracked object stays untracked until a manager applies to it.
  if (owners.size === 0 && live?.metadata?.uid) return withEntries(next, undefined)
  const before = live ?? zeroValueOf(request.schema, request.resolve, next)
  const after = moveOwnership(request, owners, { before, after: next, structure })
  return withOwners(next, capUpdaters(after), live)
}

/** The owners before the write: the live ones, or those that the writer sent. */
function ownersBefore({ live, next, subresource }: UpdateRequest): Owners {
  const stored = live?.metadata?.managedFields
  const sent: unknown = next.metadata?.managedFields
  if (subresource !== '' || sent === undefined || sent === null || sent === stored) return ownersOf(stored)
  if (asksToClear(sent)) return new Map()
  const owners = sentOwners(sent)
  return owners && owners.size > 0 ? owners : ownersOf(stored)
}

interface Step {
  readonly before: KubeObject
  readonly after: KubeObject
  readonly structure: Structure
}

/** Moves the ownership of changed fields to the writer. */
function moveOwnership(context: ManagedContext, owners: Owners, { before, after, structure }: Step): Owners {
  const reset = resetsOf(context, after)
  const changes = compare(before, after, structure)
  const written = recursiveDifference(changes.written, reset)
  const removed = recursiveDifference(changes.removed, reset)
  const moved = new Map<string, Owner>()
  for (const [identity, owner] of owners) {
    if (context.isServed?.(owner.apiVersion) === false) continue
    const fields = difference(difference(underSchema(owner.fields, structure), written), removed)
    if (!isEmpty(fields)) moved.set(identity, fields === owner.fields ? owner : { ...owner, fields })
  }
  const own = difference(written, NEVER_OWNED)
  if (!isEmpty(own)) {
    const writer = ownerFor(context, 'Update')
    const identity = identityOf(writer)
    const fields = union(moved.get(identity)?.fields ?? LEAF, own)
    moved.set(identity, { ...writer, time: context.now, fields })
  }
  return moved
}

const ownerFor = ({ manager, apiVersion, subresource }: ManagedContext, operation: Operation): Owner => ({
  manager: manager || 'unknown',
  operation,
  apiVersion,
  subresource,
  time: undefined,
  fields: LEAF,
})

function resetsOf(context: ManagedContext, { kind = '' }: KubeObject): FieldSet {
  if (context.resetFields) return resetSet(context.resetFields)
  const { apiVersion, schema, subresource } = context
  const group = apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0))
  const hasStatus = schema?.properties?.['status'] !== undefined
  return resetSet(defaultResetFields({ group, kind, isBuiltIn: isBuiltIn(schema), hasStatus }, subresource))
}

function apply(request: ApplyRequest): KubeObject {
  const { applied, apiVersion, manager } = request
  checkApplied(request)
  const structure = structureOf(request.schema, request.resolve)
  const problems = typeErrors(applied, structure)
  if (problems !== undefined) {
    throw unclassified(`failed to create typed patch object (${describe(applied)}): ${problems}`)
  }
  const { live } = request
  const outcome = merge(request, live ? ownersForApply(request, live, structure) : new Map(), structure)
  if (outcome.conflicts.length > 0 && !request.force) {
    const allowed = live && manager === KUBECTL ? unchangedSinceLastApplied(live, apiVersion, structure) : undefined
    const conflicts = outcome.conflicts
      .map((conflict) => (allowed ? { ...conflict, fields: difference(conflict.fields, allowed) } : conflict))
      .filter(({ fields }) => !isEmpty(fields))
    if (conflicts.length > 0) throw conflictError(conflicts)
  }
  const object = manager === KUBECTL ? withLastApplied(outcome.object, applied) : outcome.object
  return withOwners(object, outcome.owners, live)
}

/** The owners of the live object; the fields of an untracked object get a manager of their own. */
function ownersForApply(request: ApplyRequest, live: KubeObject, structure: Structure): Owners {
  const owners = ownersOf(live.metadata?.managedFields)
  if (owners.size > 0) return owners
  const before = zeroValueOf(request.schema, request.resolve, live)
  return moveOwnership({ ...request, manager: BEFORE_FIRST_APPLY }, owners, { before, after: live, structure })
}

function checkApplied({ applied, apiVersion, live }: ApplyRequest): void {
  const isOther = applied.apiVersion !== apiVersion || (live?.kind !== undefined && applied.kind !== live.kind)
  if (isOther || !applied.kind) throw badRequest(`invalid object type: ${describeKind(applied)}`)
  if (isList(applied.metadata?.managedFields)) throw badRequest('metadata.managedFields must be nil')
}

interface Outcome {
  readonly object: KubeObject
  readonly owners: Owners
  /** Fields that other managers lose, forced or not. */
  readonly conflicts: readonly Conflict[]
}

function merge(request: ApplyRequest, owners: Owners, structure: Structure): Outcome {
  const { live } = request
  const reset = resetsOf(request, request.applied)
  const applier = ownerFor(request, 'Apply')
  const identity = identityOf(applier)
  const previous = owners.get(identity)
  const last = previous ? underSchema(previous.fields, structure) : LEAF
  const current = recursiveDifference(fieldSetOf(request.applied, structure), reset)
  request.onFields?.(current)

  const others = new Map<string, Owner>()
  for (const [id, owner] of owners) {
    if (id === identity || request.isServed?.(owner.apiVersion) === false) continue
    const fields = underSchema(owner.fields, structure)
    others.set(id, fields === owner.fields ? owner : { ...owner, fields })
  }
  const merged = mergeApplied(live, request.applied, structure)
  let object = merged as KubeObject
  if (!isEmpty(last)) {
    let owned = current
    if (!isEmpty(difference(last, current))) for (const { fields } of others.values()) owned = union(owned, fields)
    object = pruneDropped(merged, { last, current, owned }, structure) as KubeObject
  }
  const isChanged = object !== live
  const after = new Map<string, Owner>()
  const conflicts: Conflict[] = []
  const changes = isChanged && others.size > 0 ? compare(live, object, structure) : { written: LEAF, removed: LEAF }
  const written = recursiveDifference(changes.written, reset)
  const removed = recursiveDifference(changes.removed, reset)
  for (const [id, owner] of others) {
    const taken = isEmpty(written) ? LEAF : intersection(owner.fields, written)
    if (!isEmpty(taken)) conflicts.push({ identity: id, owner, fields: taken })
    const fields = difference(difference(owner.fields, taken), removed)
    if (!isEmpty(fields)) after.set(id, fields === owner.fields ? owner : { ...owner, fields })
  }
  const own = difference(current, NEVER_OWNED)
  if (!isEmpty(own)) {
    const time = isChanged ? request.now : previous?.time
    const isSame = previous !== undefined && fieldsEqual(own, previous.fields) && previous.time === time
    after.set(
      identity,
      isSame && previous.apiVersion === applier.apiVersion ? previous : { ...applier, time, fields: own },
    )
  }
  return { object, owners: after, conflicts }
}

/** The object with these owners in its metadata; `live` itself if it is equal. */
function withOwners(object: KubeObject, owners: Owners, live: KubeObject | undefined): KubeObject {
  const stored = live?.metadata?.managedFields
  const entries = isSameAs(owners, ownersOf(stored)) ? stored : entriesOf(owners)
  if (entries === object.metadata?.managedFields) return object
  return withEntries(object, entries)
}

function isSameAs(a: Owners, b: Owners): boolean {
  if (a.size !== b.size) return false
  for (const [identity, owner] of a) {
    const other = b.get(identity)
    if (!other) return false
    if (owner === other) continue
    if (owner.time !== other.time || owner.apiVersion !== other.apiVersion) return false
    if (!fieldsEqual(owner.fields, other.fields)) return false
  }
  return true
}

function withEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  if (entries === undefined) {
    if (!object.metadata || !Object.hasOwn(object.metadata, 'managedFields')) return object
    const { managedFields: _, ...metadata } = object.metadata
    return { ...object, metadata }
  }
  return { ...object, metadata: { ...object.metadata, managedFields: entries } }
}

/** An applied object may have any content. */
function describeKind(object: KubeObject): string {
  const [apiVersion, kind] = [asString(object.apiVersion), asString(object.kind)]
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`
}

function describe(object: KubeObject): string {
  const { namespace = '', name = '' } = object.metadata ?? {}
  return `${namespace}/${name}; ${describeKind(object)}`
}

/** Whether a managedFields entry owns the field at this path of names. */
export function ownsField(entry: ManagedFieldsEntry, path: readonly string[]): boolean {
  return hasPath(
    (entry.fieldsV1 as FieldSet | undefined) ?? LEAF,
    path.map((name) => `f:${name}`),
  )
}
