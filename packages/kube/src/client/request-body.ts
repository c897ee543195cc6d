import type { DeleteOptions, Deleted, WriteOptions } from './api.ts'
import { isStillThere } from './deletion.ts'
import { ConnectionError, TenureError } from '../errors/errors.ts'
import { fitterFor } from '../model/representation.ts'
import { kindKey } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject, Stored } from '../model/object.ts'
import type { Answer } from './requester.ts'
import { isStatus } from '../errors/status-error.ts'

/** metav1.DeleteOptions, as the server takes them. */
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

/** An object with its apiVersion and kind, which the server needs and a typed caller may leave out. */
export function withKind(kind: Kind, object: KubeObject, { subresource }: WriteOptions): KubeObject {
  // A Scale has a kind of its own.
  if (subresource === 'scale') return { ...object, apiVersion: 'autoscaling/v1', kind: 'Scale' }
  const { apiVersion, kind: name } = object
  if ((apiVersion && apiVersion !== kind.apiVersion) || (name && name !== kind.kind)) {
    throw new TenureError(
      'TENURE_KIND_MISMATCH',
      `A ${name ?? kind.kind} of ${apiVersion ?? kind.apiVersion} can not be written as ${kindKey(kind)}: pass the Kind that it is of.`,
    )
  }
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind }
}

export function nameOf(kind: Kind, object: KubeObject): string {
  const name = object.metadata?.name
  if (name) return name
  throw new TenureError(
    'TENURE_NAME_MISSING',
    `A ${kind.kind} without metadata.name can not be written: give it a name.`,
  )
}

/** Written whole from its metadata alone, an object would lose everything else. */
export function refuseMetadataForm(kind: Kind, verb: string): void {
  if (kind.form === 'metadata') {
    throw new TenureError(
      'TENURE_METADATA_ONLY',
      `Can not ${verb} a ${kind.kind} through its metadata form: its spec would be lost. Use the full kind, or a patch.`,
    )
  }
}

/** The object in an answer, in the kind's form. */
export function objectIn<T extends KubeObject>(kind: Kind<T>, { value }: Answer, subresource?: string): Stored<T> {
  const object = value as KubeObject | undefined
  if (!object?.metadata) throw notAnObject(kind)
  return (subresource === 'scale' ? object : (fitterFor(kind)?.(object) ?? object)) as Stored<T>
}

/** What the answer to a delete says. `uid` is the one that was asked for, if any. */
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
    `The answer for ${kindKey(kind)} is not a Kubernetes object: is this really the address of an API server?`,
  )
}
