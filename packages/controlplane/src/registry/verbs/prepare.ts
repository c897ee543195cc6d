import { isDeepEqual, isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import type { KubeObject, ObjectMeta, OwnerReference, Random, Stored } from '@tenure/kube'
import { asksToClear } from '../../apply/managers/managers.ts'
import { defaultResetFields } from '../../apply/merge/reset-fields.ts'
import { forbidden, invalid, notFound, StatusError } from '../../errors.ts'
import type { ResourceNames } from '../../errors.ts'
import { refuseIfLarge } from '../../model/object-size.ts'
import type { FieldError } from '../../schema/types.ts'
import type { RegistryContext } from '../context.ts'
import { apiVersionOf } from '../decode/decode.ts'
import { orderMetadata, timestamp, validateMetadata, validateMetadataUpdate } from '../metadata/metadata.ts'
import type { ResourceRequest } from '../request.ts'
import { approvalErrors, withConditionTimes } from '../subresources/approval.ts'
import type { ResourceDefinition } from '../types.ts'
import { isDryRun } from './write.ts'

/** The field manager for managedFields: the named one, or the program in the user agent. */
export function managerOf({ options, userAgent }: Pick<ResourceRequest, 'options' | 'userAgent'>): string {
  if (options.fieldManager) return options.fieldManager
  return (userAgent.split('/')[0] ?? '').replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, 128)
}

/** Updates managedFields for a create or update. `sent` is the body before it was decoded. */
export function withManagedFields(
  context: RegistryContext,
  request: ResourceRequest,
  live: KubeObject | undefined,
  next: KubeObject,
  sent: unknown,
): KubeObject {
  const { definition, subresource } = request
  const shown = withSentManagers(withEmptyLists(definition, next, sent), sent)
  const { metadata } = context.fields.update({
    live,
    next: shown,
    manager: managerOf(request),
    apiVersion: apiVersionOf(definition),
    subresource,
    schema: definition.schema,
    resolve: (ref) => definition.resolve(ref),
    now: timestamp(context.clock.now()),
    resetFields: defaultResetFields(definition, subresource),
  })
  if (metadata === next.metadata || !metadata) return next
  const managed = { ...next, metadata }
  // The managed fields may be larger than the object. Admission and validation take much longer than this. The body of a
  // patch says nothing about the object that it changes.
  refuseIfLarge(request.verb === 'patch' ? undefined : request.bodyLength, managed)
  return managed
}

/** An empty list is stored as absent, but its sender owns the field. */
function withEmptyLists(definition: ResourceDefinition, object: KubeObject, sent: unknown): KubeObject {
  if (!definition.isBuiltIn || !isJsonObject(sent)) return object
  const lists = Object.keys(sent).filter((name) => {
    const value = sent[name]
    return Array.isArray(value) && value.length === 0 && definition.schema?.properties?.[name]?.default === null
  })
  return lists.length === 0 ? object : { ...object, ...Object.fromEntries(lists.map((name) => [name, []])) }
}

/**
 * An empty list of managers asks to clear all of them, although an object without managers looks the same once it is
 * decoded.
 */
function withSentManagers(object: KubeObject, sent: unknown): KubeObject {
  const managedFields = valueAtPath(sent, 'metadata', 'managedFields')
  if (!asksToClear(managedFields)) return object
  return { ...object, metadata: { ...object.metadata, managedFields: [] } }
}

/** New objects are accepted only by a kind that is not being deleted, in a namespace that exists and is not terminating. */
export function checkAcceptsNew({ storage }: RegistryContext, request: ResourceRequest, name: string): void {
  const { definition, namespace } = request
  if (definition.isTerminating) {
    throw forbidden(definition, name, 'create not allowed while custom resource definition is terminating')
  }
  if (!definition.namespaced || namespace === undefined) return
  const found = storage.get('namespaces', namespace)
  if (!found) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace)
  const isTerminating =
    found.object.metadata.deletionTimestamp !== undefined ||
    (found.object as { readonly status?: { readonly phase?: string } }).status?.phase === 'Terminating'
  if (!isTerminating) return
  const { group, plural } = definition
  throw new StatusError(
    403,
    'Forbidden',
    `${group ? `${plural}.${group}` : plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    {
      name,
      ...(group && { group }),
      kind: plural,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  )
}

/** A version 4 UUID. */
export function newUid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The part of an object that `generation` counts; undefined if there is none. */
function counted(object: KubeObject, { strategy }: ResourceDefinition): unknown {
  if (strategy.generation === false) return undefined
  if (strategy.generation) return strategy.generation(object)
  const { metadata: _, status: __, apiVersion: ___, kind: ____, ...rest } = object as KubeObject & JsonObject
  return rest
}

/** Sets the server-set fields of a new object and validates it. */
export function finishCreate(
  context: RegistryContext,
  request: ResourceRequest,
  draft: KubeObject,
  schemaErrors: readonly FieldError[],
): KubeObject {
  const { definition } = request
  const { strategy } = definition
  const sent = draft.metadata ?? {}
  const metadata: ObjectMeta = {
    ...sent,
    uid: newUid(context.random),
    creationTimestamp: timestamp(context.clock.now()),
  }
  let object: KubeObject = { ...draft, metadata }
  object = strategy.prepareForCreate?.(object) ?? object
  if (strategy.generation !== false) object = { ...object, metadata: { ...object.metadata, generation: 1 } }
  const errors = [
    ...validateMetadata(object.metadata ?? {}, definition),
    ...mergedErrors(schemaErrors, strategy.validate?.(object) ?? []),
  ]
  if (errors.length > 0) throw invalid(refusedKind(definition, draft), metadata.name ?? '', errors)
  // Only storage refuses a version, so a dry run does not, and a text that is not a number is none.
  if (/^0*[1-9]\d*$/.test(sent.resourceVersion ?? '') && !isDryRun(request)) {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
  }
  return ordered(object)
}

/** Keeps the server-set fields of an updated object and validates it. */
export function finishUpdate(
  context: RegistryContext,
  request: ResourceRequest,
  draft: KubeObject,
  old: Stored<KubeObject>,
  schemaErrors: readonly FieldError[],
): KubeObject {
  const { definition } = request
  const { strategy } = definition
  const { generation: _, resourceVersion: __, selfLink: ___, ...sent } = draft.metadata ?? {}
  const { metadata: was } = old
  const metadata: ObjectMeta = {
    ...sent,
    uid: sent.uid ?? was.uid,
    creationTimestamp: was.creationTimestamp,
    ...(was.deletionTimestamp !== undefined && { deletionTimestamp: was.deletionTimestamp }),
    ...(was.deletionGracePeriodSeconds !== undefined &&
      sent.deletionGracePeriodSeconds === undefined && { deletionGracePeriodSeconds: was.deletionGracePeriodSeconds }),
    ...(was.generation !== undefined && { generation: was.generation }),
  }
  let object: KubeObject = { ...draft, metadata }
  const isOfStatus = request.subresource === 'status' && strategy.validateStatus !== undefined
  if (!isOfStatus) object = strategy.prepareForUpdate?.(object, old) ?? object
  object = withConditionTimes(request, object, old, timestamp(context.clock.now()))
  const isCounted = strategy.generation !== false && request.subresource !== 'status'
  if (isCounted && !isDeepEqual(counted(object, definition), counted(old, definition))) {
    object = { ...object, metadata: { ...object.metadata, generation: (was.generation ?? 0) + 1 } }
  }
  const own =
    (isOfStatus ? strategy.validateStatus?.(object) : strategy.validateUpdate?.(object, old)) ??
    strategy.validate?.(object) ??
    []
  const errors = [
    ...validateMetadataUpdate(object.metadata ?? {}, was, definition),
    ...mergedErrors(schemaErrors, own),
    ...approvalErrors(request, object, old),
  ]
  if (errors.length > 0) throw invalid(refusedKind(definition, draft), was.name, errors)
  return ordered(object)
}

/** An error names the kind that was sent and the group that it is stored in. */
function refusedKind(definition: ResourceDefinition, { kind = definition.kind }: KubeObject): ResourceNames {
  const { plural, bucket } = definition
  return { group: bucket.slice(plural.length + 1), plural, kind }
}

const idOf = ({ field, message, reason }: FieldError): string => `${field}\n${reason}\n${message}`

/** Errors of the schema and of the kind's own rules, without duplicates. */
function mergedErrors(bySchema: readonly FieldError[], own: readonly FieldError[]): readonly FieldError[] {
  if (bySchema.length === 0) return own
  const known = new Set(bySchema.map(idOf))
  return [...bySchema, ...own.filter((error) => !known.has(idOf(error)))]
}

/** Kind and apiVersion first, then metadata in order, with a place for the resourceVersion. */
function ordered(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object
  return { kind, apiVersion, metadata: orderMetadata({ ...metadata, resourceVersion: '' }), ...rest } as KubeObject
}

/** Removes duplicate owner references, with a warning. */
export function dropDuplicateOwners(object: KubeObject, warn: (warning: string) => void): KubeObject {
  const owners = object.metadata?.ownerReferences
  if (!owners || owners.length < 2) return object
  const kept: OwnerReference[] = []
  const dropped: string[] = []
  const seen = new Set<string>()
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (seen.has(key)) dropped.push(uid)
    else kept.push(owner)
    seen.add(key)
  }
  if (dropped.length === 0) return object
  warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${dropped.join(', ')}`,
  )
  return { ...object, metadata: { ...object.metadata, ownerReferences: kept } }
}
