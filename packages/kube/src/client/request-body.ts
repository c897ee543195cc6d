import type { DeleteOptions, Deleted, WriteOptions } from './api.ts'
import { isStillThere } from './deletion.ts'
import { ConnectionError, TenureError } from '../errors/errors.ts'
import { fitterFor } from '../model/representation.ts'
import { kindKey } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject, Stored } from '../model/object.ts'
import type { ApiResponse } from './requester.ts'
import { isStatus } from '../errors/status-error.ts'

/** metav1.DeleteOptions. */
export function deleteBody(options: DeleteOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: options.preconditions,
    propagationPolicy: options.propagation,
    gracePeriodSeconds: options.gracePeriodSeconds,
    dryRun: options.dryRun ? ['All'] : undefined,
  }
}

/** An object with its apiVersion and kind, which a typed caller may leave out. */
export function withKind(kind: Kind, object: KubeObject, { subresource }: WriteOptions): KubeObject {
  // The scale subresource is of another kind than its object.
  if (subresource === 'scale') return { ...object, apiVersion: 'autoscaling/v1', kind: 'Scale' }
  const { apiVersion, kind: name } = object
  if ((apiVersion && apiVersion !== kind.apiVersion) || (name && name !== kind.kind)) {
    throw new TenureError(
      'TENURE_KIND_MISMATCH',
      `A ${name ?? kind.kind} of ${apiVersion ?? kind.apiVersion} cannot be written as ${kindKey(kind)}: pass the Kind of the object.`,
    )
  }
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind }
}

export function nameOf(kind: Kind, object: KubeObject): string {
  const name = object.metadata?.name
  if (name) return name
  throw new TenureError(
    'TENURE_NAME_MISSING',
    `A ${kind.kind} without metadata.name cannot be written: give it a name.`,
  )
}

/** Throws for a metadata-only kind: a full write of it would remove the spec. */
export function requireFullRepresentation(kind: Kind, verb: string): void {
  if (kind.representation === 'metadata') {
    throw new TenureError(
      'TENURE_METADATA_ONLY',
      `Cannot ${verb} a ${kind.kind} through its metadata: its spec would be lost. Use the full kind, or a patch.`,
    )
  }
}

/** The object in a response, in the kind's representation. */
export function objectIn<T extends KubeObject>(kind: Kind<T>, { value }: ApiResponse, subresource?: string): Stored<T> {
  const object = value as KubeObject | undefined
  if (!object?.metadata) throw notAnObject(kind)
  return (subresource === 'scale' ? object : (fitterFor(kind)?.(object) ?? object)) as Stored<T>
}

/** The result of a delete from its response. `uid` is the precondition of the request, if any. */
export function deletedFrom<T extends KubeObject>(kind: Kind<T>, value: unknown, uid: string | undefined): Deleted<T> {
  if (isStatus(value)) return { gone: true, uid: value.details?.uid ?? uid }
  const object = value as KubeObject | undefined
  if (object?.metadata?.deletionTimestamp && isStillThere(kind, object)) {
    return { gone: false, object: (fitterFor(kind)?.(object) ?? object) as Stored<T> }
  }
  return { gone: true, uid: object?.metadata?.uid ?? uid }
}

export function notAnObject(kind: Kind): ConnectionError {
  return new ConnectionError(
    'TENURE_ANSWER_UNREADABLE',
    `The response for ${kindKey(kind)} is not a Kubernetes object: check that the address is that of an API server.`,
  )
}
