import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference, Stored } from '@tenure/kube'
import type { FieldError } from '../schema/types.ts'
import { isEqual, without } from './json.ts'
import type { JsonObject } from './json.ts'
import { checkLabelName, checkLabelValue, checkName, checkNamePrefix, checkQualifiedName } from './names.ts'
import type { ResourceDefinition } from './types.ts'

/** The fields of ObjectMeta, in the order in which the real server writes them. */
const FIELDS: readonly (keyof ObjectMeta)[] = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]
/** RFC 3339 in whole seconds, as the real server writes times. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** Metadata with fields in their order; undefined ones removed. */
export function orderMetadata(metadata: ObjectMeta): ObjectMeta {
  const result: Record<string, unknown> = {}
  for (const name of FIELDS) if (metadata[name] !== undefined) result[name] = metadata[name]
  return result
}

const invalidValue = (field: string, value: unknown, why: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
})

/** Annotations may hold this many bytes, all together. */
const MOST_ANNOTATIONS = 256 * 1024

/** What every object's metadata must be. */
export function validateMetadata(metadata: ObjectMeta, definition: ResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const { name, generateName, namespace } = metadata
  if (generateName !== undefined) {
    for (const why of checkNamePrefix(definition.bucket, generateName)) {
      errors.push(invalidValue('metadata.generateName', generateName, why))
    }
  }
  if (name === undefined) {
    errors.push({
      reason: 'FieldValueRequired',
      field: 'metadata.name',
      message: 'Required value: name or generateName is required',
    })
  } else {
    for (const why of checkName(definition.bucket, name)) errors.push(invalidValue('metadata.name', name, why))
  }
  if (definition.namespaced && namespace === undefined) {
    errors.push({ reason: 'FieldValueRequired', field: 'metadata.namespace', message: 'Required value' })
  } else if (definition.namespaced && namespace !== undefined) {
    for (const why of checkLabelName(namespace)) errors.push(invalidValue('metadata.namespace', namespace, why))
  } else if (namespace !== undefined) {
    errors.push({
      reason: 'FieldValueForbidden',
      field: 'metadata.namespace',
      message: 'Forbidden: not allowed on this type',
    })
  }
  validateMaps(metadata, errors)
  validateOwners(metadata.ownerReferences, errors)
  validateFinalizers(metadata.finalizers, errors)
  validateManaged(metadata.managedFields, errors)
  return errors
}

function validateMaps({ labels, annotations }: ObjectMeta, errors: FieldError[]): void {
  for (const key in labels) {
    for (const why of checkQualifiedName(key)) errors.push(invalidValue('metadata.labels', key, why))
    for (const why of checkLabelValue(labels[key] ?? '')) errors.push(invalidValue('metadata.labels', labels[key], why))
  }
  let size = 0
  for (const key in annotations) {
    for (const why of checkQualifiedName(key.toLowerCase())) errors.push(invalidValue('metadata.annotations', key, why))
    size += key.length + (annotations[key]?.length ?? 0)
  }
  if (size > MOST_ANNOTATIONS) {
    errors.push({
      reason: 'FieldValueTooLong',
      field: 'metadata.annotations',
      message: `Too long: may not be more than ${MOST_ANNOTATIONS} bytes`,
    })
  }
}

function validateOwners(owners: readonly OwnerReference[] | undefined, errors: FieldError[]): void {
  let controller: string | undefined
  for (const owner of owners ?? []) {
    const at = 'metadata.ownerReferences'
    if (owner.apiVersion === '') errors.push(invalidValue(`${at}.apiVersion`, '', 'version must not be empty'))
    for (const key of ['kind', 'name', 'uid'] as const) {
      if (owner[key] === '') errors.push(invalidValue(`${at}.${key}`, '', 'must not be empty'))
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(invalidValue(at, owner, '/v1, Kind=Event is disallowed from being an owner'))
    }
    if (!owner.controller) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller === undefined) controller = name
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      errors.push(invalidValue(at, owners, why))
    }
  }
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'foregroundDeletion', 'orphan'])

function validateFinalizers(finalizers: readonly string[] | undefined, errors: FieldError[]): void {
  if (!finalizers) return
  for (const [index, finalizer] of finalizers.entries()) {
    const complaints = checkQualifiedName(finalizer)
    for (const why of complaints) errors.push(invalidValue('metadata.finalizers', finalizer, why))
    if (complaints.length === 0 && !finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      const why = 'name is neither a standard finalizer name nor is it fully qualified'
      errors.push(invalidValue(`metadata.finalizers[${index}]`, finalizer, why))
    }
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.push(invalidValue('metadata.finalizers', finalizers, why))
  }
}

function validateManaged(entries: readonly ManagedFieldsEntry[] | undefined, errors: FieldError[]): void {
  for (const [index, entry] of (entries ?? []).entries()) {
    const at = `metadata.managedFields[${index}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalidValue(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalidValue(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
  }
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/** What an update may not do to metadata. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((finalizer) => !old.finalizers?.includes(finalizer))
    if (added.length > 0) {
      const list = added
        .toSorted()
        .map((finalizer) => JSON.stringify(finalizer))
        .join(', ')
      errors.push({
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      })
    }
  }
  for (const key of IMMUTABLE) {
    if (metadata[key] !== old[key]) {
      errors.push(invalidValue(`metadata.${key}`, metadata[key] ?? (key === 'uid' ? '' : null), 'field is immutable'))
    }
  }
  return errors
}

/** True if two objects are the same but for resourceVersion and the times in managedFields. */
export function isSameContent(next: KubeObject, current: Stored<KubeObject>): boolean {
  const a = next as unknown as JsonObject
  const b = current as unknown as JsonObject
  for (const key in a) if (key !== 'metadata' && !isEqual(a[key], b[key])) return false
  for (const key in b) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false
  const { resourceVersion: _, managedFields, ...metadata } = next.metadata ?? {}
  const { resourceVersion: __, managedFields: managed, ...old } = current.metadata
  return isEqual(metadata, old) && isEqual(timeless(managedFields), timeless(managed))
}

function timeless(entries: readonly ManagedFieldsEntry[] | undefined): readonly unknown[] {
  return (entries ?? []).map((entry) => without(entry, 'time'))
}
