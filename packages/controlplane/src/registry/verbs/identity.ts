import type { KubeObject } from '@tenure/kube'
import { defaultResetFields } from '../../apply/merge/reset-fields.ts'
import { badRequest, conflict, invalid, StatusError } from '../../errors.ts'
import type { StoredObject } from '../../storage/types.ts'
import { isObject, without } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { parseRevision } from '../options/check-options.ts'
import type { ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'
import { MODIFIED } from './write.ts'

/** What of an object a request names, and what of it the request may change. */

/** Kinds that are updated only by who says which version it has seen; custom resources are, too. */
const CONDITIONAL = new Set([
  'leases.coordination.k8s.io',
  'poddisruptionbudgets.policy',
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'volumeattachments.storage.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'runtimeclasses.node.k8s.io',
])

export const wrongNamespace = (): StatusError =>
  badRequest('the namespace of the provided object does not match the namespace sent on the request')

export function namespaceFinalizers(object: KubeObject): readonly string[] {
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } }
  return spec?.finalizers ?? []
}

/** Name and namespace of what is sent must be those of the URL. */
export function checkIdentity({ name = '', namespace, definition }: ResourceRequest, body: JsonObject): void {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  const { name: sentName, namespace: sentNamespace } = metadata as Readonly<Record<string, string | undefined>>
  if (definition.namespaced && sentNamespace && sentNamespace !== namespace) throw wrongNamespace()
  if (!sentName)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`)
  }
}

/** A version that was sent must be the newest. */
export function checkVersion(request: ResourceRequest, object: KubeObject, current: StoredObject | undefined): void {
  const { definition, name = '' } = request
  const sent = parseRevision(object.metadata?.resourceVersion, (why) => new StatusError(500, '', why))
  if (!current) return
  if (!sent) {
    if (request.verb !== 'update' || (definition.isBuiltIn && !CONDITIONAL.has(definition.bucket))) return
    throw invalid({ ...definition, kind: definition.plural }, name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0: must be specified for an update',
      },
    ])
  }
  if (sent !== current.revision) throw conflict(definition, name, MODIFIED)
}

/** What the request may touch: all but status, or nothing but status. */
export function placed(request: ResourceRequest, next: KubeObject, old: KubeObject | undefined): KubeObject {
  const { definition, subresource, namespace } = request
  const metadata =
    definition.namespaced && namespace !== undefined && next.metadata?.namespace !== namespace
      ? { ...next.metadata, namespace }
      : next.metadata
  const object = metadata === next.metadata ? next : { ...next, ...(metadata && { metadata }) }
  if (!old) return definition.hasStatus ? without(object, 'status') : object
  switch (subresource) {
    case 'status':
      return statusOnly(definition, object, old)
    case 'finalize':
      return withStatusOf(object, old)
    case 'ephemeralcontainers':
    case 'resize':
      return object
    default: {
      const kept = definition.bucket === 'namespaces' ? withFinalizersOf(object, old) : object
      return definition.hasStatus ? withStatusOf(kept, old) : kept
    }
  }
}

/** A namespace's own finalizers change through `finalize` only. */
function withFinalizersOf(object: KubeObject, old: KubeObject): KubeObject {
  const { spec } = object as { readonly spec?: object }
  return { ...object, spec: { ...spec, finalizers: namespaceFinalizers(old) } } as KubeObject
}

function withStatusOf(object: KubeObject, old: KubeObject): KubeObject {
  const status = (old as { readonly status?: unknown }).status
  if ((object as { readonly status?: unknown }).status === status) return object
  return status === undefined ? without(object, 'status') : ({ ...object, status } as KubeObject)
}

function statusOnly(definition: ResourceDefinition, object: KubeObject, old: KubeObject): KubeObject {
  const { status } = object as { readonly status?: unknown }
  const { managedFields } = object.metadata ?? {}
  const resets = defaultResetFields(definition, 'status')
  const isReset = (field: string): boolean => resets.some(([part, name]) => part === 'metadata' && name === field)
  const was: JsonObject = { ...old.metadata }
  // Most built-in kinds take metadata along; of a custom resource nothing but the status counts.
  const metadata = resets.some((path) => path.length === 1 && path[0] === 'metadata')
    ? { ...old.metadata, resourceVersion: object.metadata?.resourceVersion, managedFields }
    : {
        ...object.metadata,
        ...Object.fromEntries(['labels', 'ownerReferences'].filter(isReset).map((field) => [field, was[field]])),
      }
  const base = without(old, 'status')
  return {
    ...base,
    metadata: metadata as KubeObject['metadata'],
    ...(status !== undefined && { status }),
  } as KubeObject
}
