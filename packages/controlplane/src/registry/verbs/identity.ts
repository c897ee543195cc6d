import { asJsonObject, isJsonObject, type JsonObject, valueAtPath, withoutField } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import { defaultResetFields } from '../../apply/merge/reset-fields.ts'
import { badRequest, conflict, invalid, StatusError } from '../../errors.ts'
import type { StoredObject } from '../../storage/types.ts'
import { parseRevision } from '../options/check-options.ts'
import type { ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'
import { MODIFIED } from './write.ts'

/** Checks of the name, namespace and version in a request, and of the fields that it may change. */

/** Kinds whose updates require a resourceVersion, as those of custom resources do. */
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

/** Name and namespace in the body must match the URL. */
export function checkIdentity({ name = '', namespace, definition }: ResourceRequest, body: JsonObject): void {
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {}
  const { name: sentName, namespace: sentNamespace } = metadata as Readonly<Record<string, string | undefined>>
  if (definition.namespaced && sentNamespace && sentNamespace !== namespace) throw wrongNamespace()
  if (!sentName)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`)
  }
}

/** A resourceVersion in the body must be the newest. */
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

/** Limits the change to the fields of the request: all but status, or only status. */
export function writableFields(request: ResourceRequest, next: KubeObject, old: KubeObject | undefined): KubeObject {
  const { definition, subresource, namespace } = request
  const metadata =
    definition.namespaced && namespace !== undefined && next.metadata?.namespace !== namespace
      ? { ...next.metadata, namespace }
      : next.metadata
  const object = metadata === next.metadata ? next : { ...next, ...(metadata && { metadata }) }
  if (!old) return definition.hasStatus ? withoutField(object, 'status') : object
  switch (subresource) {
    case 'status':
      return statusOnly(definition, object, old)
    case 'approval':
      return conditionsOnly(object, old)
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

/** The finalizers of a namespace's spec change only through `finalize`. */
function withFinalizersOf(object: KubeObject, old: KubeObject): KubeObject {
  const { spec } = object as { readonly spec?: object }
  return { ...object, spec: { ...spec, finalizers: namespaceFinalizers(old) } } as KubeObject
}

function withStatusOf(object: KubeObject, old: KubeObject): KubeObject {
  const status = (old as { readonly status?: unknown }).status
  if ((object as { readonly status?: unknown }).status === status) return object
  return status === undefined ? withoutField(object, 'status') : ({ ...object, status } as KubeObject)
}

/** An approval writes only the conditions of a certificate request, not the certificate. */
function conditionsOnly(object: KubeObject, old: KubeObject): KubeObject {
  const { spec } = old as { readonly spec?: unknown }
  const conditions = valueAtPath(object, 'status', 'conditions')
  const { conditions: _, ...status } = asJsonObject(valueAtPath(old, 'status'))
  return { ...object, spec, status: conditions === undefined ? status : { conditions, ...status } } as KubeObject
}

function statusOnly(definition: ResourceDefinition, object: KubeObject, old: KubeObject): KubeObject {
  const { status } = object as { readonly status?: unknown }
  const { managedFields } = object.metadata ?? {}
  const resets = defaultResetFields(definition, 'status')
  const isReset = (field: string): boolean => resets.some(([part, name]) => part === 'metadata' && name === field)
  const was: JsonObject = { ...old.metadata }
  // For most built-in kinds a status write includes metadata; for custom resources only the status counts.
  const metadata = resets.some((path) => path.length === 1 && path[0] === 'metadata')
    ? { ...old.metadata, resourceVersion: object.metadata?.resourceVersion, managedFields }
    : {
        ...object.metadata,
        ...Object.fromEntries(['labels', 'ownerReferences'].filter(isReset).map((field) => [field, was[field]])),
      }
  const base = withoutField(old, 'status')
  return {
    ...base,
    metadata: metadata as KubeObject['metadata'],
    ...(status !== undefined && { status }),
  } as KubeObject
}
