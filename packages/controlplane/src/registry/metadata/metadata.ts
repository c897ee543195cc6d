import {
  annotationKey,
  dnsLabel,
  isDeepEqual,
  type JsonObject,
  labelValue,
  pathSegment,
  qualifiedName,
  withoutField,
} from '@tenure/kube/model'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference, Stored } from '@tenure/kube'
import { BoundedErrors } from '../../schema/bounded-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { checkName, checkNamePrefix } from './object-names.ts'
import type { ResourceDefinition } from '../types.ts'

/** The fields of ObjectMeta in the order in which kube-apiserver writes them. */
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
let last = { second: Number.NaN, text: '' }

/** RFC 3339 in whole seconds, as kube-apiserver writes times. */
export function timestamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000)
  if (second !== last.second) last = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` }
  return last.text
}

/** Metadata with its fields in order, without undefined ones. */
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

/** Maximum total bytes of annotations. */
const MAX_ANNOTATION_BYTES = 256 * 1024

const NONE: readonly FieldError[] = []

/** Validates the metadata of a new object. */
export function validateMetadata(metadata: ObjectMeta, definition: ResourceDefinition): readonly FieldError[] {
  const parts = partsOf(metadata)
  return whole(metadata, definition, parts, {
    name: (name) => checkName(definition.bucket, name),
    prefix: (prefix) => checkNamePrefix(definition.bucket, prefix),
  }).concat(unqualifiedFinalizers(metadata.finalizers, definition))
}

/** The minimum rule for names of any kind. */
const SEGMENT: NameRules = { name: pathSegment, prefix: pathSegment }

/** Built-in kinds whose metadata is validated on update as on create. */
const VALIDATED_AS_NEW = new Set([
  'configmaps',
  'endpoints',
  'nodes',
  'persistentvolumeclaims',
  'persistentvolumes',
  'secrets',
  'serviceaccounts',
  'statefulsets.apps',
  'endpointslices.discovery.k8s.io',
  'ingressclasses.networking.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'csinodes.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
])

/**
 * Validates metadata after an update. As in kube-apiserver, some checks run twice, for all kinds and for the kind itself,
 * which shows in the causes of the error.
 */
export function validateMetadataUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  definition: ResourceDefinition,
): readonly FieldError[] {
  const parts = partsOf(metadata)
  const changed = [...changeErrors(metadata, old), ...parts.maps, ...parts.owners, ...parts.managed]
  const unqualified = unqualifiedFinalizers(metadata.finalizers, definition)
  const all = [...whole(metadata, definition, parts, SEGMENT), ...changed, ...changed, ...unqualified]
  if (!definition.isBuiltIn || !VALIDATED_AS_NEW.has(definition.bucket)) return all
  return [...all, ...whole(metadata, definition, parts, SEGMENT), ...unqualified]
}

/** Errors of the parts of metadata that every check covers. */
interface Parts {
  readonly maps: readonly FieldError[]
  readonly owners: readonly FieldError[]
  readonly finalizers: readonly FieldError[]
  readonly managed: readonly FieldError[]
}

function partsOf(metadata: ObjectMeta): Parts {
  return {
    maps: mapErrors(metadata),
    owners: ownerErrors(metadata.ownerReferences),
    finalizers: finalizerErrors(metadata.finalizers),
    managed: managedErrors(metadata.managedFields),
  }
}

interface NameRules {
  name(name: string): readonly string[]
  prefix(prefix: string): readonly string[]
}

function whole(metadata: ObjectMeta, definition: ResourceDefinition, parts: Parts, rules: NameRules): FieldError[] {
  const errors: FieldError[] = []
  const { name, generateName, namespace, generation } = metadata
  if (generateName !== undefined) {
    for (const why of rules.prefix(generateName)) {
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
    for (const why of rules.name(name)) errors.push(invalidValue('metadata.name', name, why))
  }
  if (definition.namespaced && namespace === undefined) {
    errors.push({ reason: 'FieldValueRequired', field: 'metadata.namespace', message: 'Required value' })
  } else if (definition.namespaced && namespace !== undefined) {
    for (const why of dnsLabel(namespace)) errors.push(invalidValue('metadata.namespace', namespace, why))
  } else if (namespace !== undefined) {
    errors.push({
      reason: 'FieldValueForbidden',
      field: 'metadata.namespace',
      message: 'Forbidden: not allowed on this type',
    })
  }
  if (generation !== undefined && generation < 0) {
    errors.push(invalidValue('metadata.generation', generation, 'must be greater than or equal to 0'))
  }
  return [...errors, ...parts.maps, ...parts.owners, ...parts.finalizers, ...parts.managed]
}

function mapErrors({ labels, annotations }: ObjectMeta): readonly FieldError[] {
  if (!labels && !annotations) return NONE
  const errors = new BoundedErrors()
  for (const key in labels) {
    if (errors.isFull) break
    for (const why of qualifiedName(key)) errors.add(invalidValue('metadata.labels', key, why))
    for (const why of labelValue(labels[key] ?? '')) errors.add(invalidValue('metadata.labels', labels[key], why))
  }
  let size = 0
  for (const key in annotations) {
    if (!errors.isFull) {
      for (const why of annotationKey(key)) errors.add(invalidValue('metadata.annotations', key, why))
    }
    size += key.length + (annotations[key]?.length ?? 0)
  }
  if (size > MAX_ANNOTATION_BYTES) {
    errors.add({
      reason: 'FieldValueTooLong',
      field: 'metadata.annotations',
      message: `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`,
    })
  }
  return errors.list
}

function ownerErrors(owners: readonly OwnerReference[] | undefined): readonly FieldError[] {
  if (!owners) return NONE
  const errors = new BoundedErrors()
  let controller: string | undefined
  for (const owner of owners) {
    if (errors.isFull) break
    const at = 'metadata.ownerReferences'
    if (owner.apiVersion === '') errors.add(invalidValue(`${at}.apiVersion`, '', 'version must not be empty'))
    for (const key of ['kind', 'name', 'uid'] as const) {
      if (owner[key] === '') errors.add(invalidValue(`${at}.${key}`, '', 'must not be empty'))
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.add(invalidValue(at, owner, '/v1, Kind=Event is disallowed from being an owner'))
    }
    if (!owner.controller) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller === undefined) controller = name
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      errors.add(invalidValue(at, owners, why))
    }
  }
  return errors.list
}

export const STANDARD_FINALIZERS = new Set(['kubernetes', 'foregroundDeletion', 'orphan'])

function finalizerErrors(finalizers: readonly string[] | undefined): readonly FieldError[] {
  if (!finalizers) return NONE
  const errors = new BoundedErrors()
  for (const finalizer of finalizers) {
    if (errors.isFull) break
    for (const why of qualifiedName(finalizer)) errors.add(invalidValue('metadata.finalizers', finalizer, why))
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.add(invalidValue('metadata.finalizers', finalizers, why))
  }
  return errors.list
}

/** Built-in kinds whose finalizers may have any name: the finalizer of a definition is not qualified either. */
const ANY_FINALIZER = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'leases.coordination.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
])

/** For built-in kinds: a finalizer must be qualified unless it is a standard one. */
function unqualifiedFinalizers(
  finalizers: readonly string[] | undefined,
  { isBuiltIn, bucket }: ResourceDefinition,
): readonly FieldError[] {
  if (!finalizers || !isBuiltIn || ANY_FINALIZER.has(bucket)) return []
  const why = 'name is neither a standard finalizer name nor is it fully qualified'
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [invalidValue(`metadata.finalizers[${index}]`, finalizer, why)],
  )
}

/** For new custom resources, an unqualified finalizer is only a warning. */
export function finalizerWarnings(metadata: ObjectMeta, old: ObjectMeta | undefined): readonly string[] {
  const known = new Set(old?.finalizers)
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer))
  return [...new Set(added)].toSorted().flatMap((finalizer) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return []
    const path = finalizer.includes('.') ? ' including a path (/)' : ''
    return [
      `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    ]
  })
}

function managedErrors(entries: readonly ManagedFieldsEntry[] | undefined): readonly FieldError[] {
  if (!entries) return NONE
  const errors = new BoundedErrors()
  for (const [index, entry] of entries.entries()) {
    const at = `metadata.managedFields[${index}]`
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.add(invalidValue(`${at}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.add(invalidValue(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
  }
  return errors.list
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

/** Errors for forbidden changes of metadata. */
function changeErrors(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers)
    const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer))
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

/** True if two objects differ only in resourceVersion and the times in managedFields. */
export function isSameContent(next: KubeObject, current: Stored<KubeObject>): boolean {
  const a = next as unknown as JsonObject
  const b = current as unknown as JsonObject
  for (const key in a) if (key !== 'metadata' && !isDeepEqual(a[key], b[key])) return false
  for (const key in b) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false
  const { resourceVersion: _, managedFields, ...metadata } = next.metadata ?? {}
  const { resourceVersion: __, managedFields: managed, ...old } = current.metadata
  return isDeepEqual(metadata, old) && isDeepEqual(timeless(managedFields), timeless(managed))
}

function timeless(entries: readonly ManagedFieldsEntry[] | undefined): readonly unknown[] {
  return (entries ?? []).map((entry) => withoutField(entry, 'time'))
}
