import { isJsonObject } from '@tenure/kube/model'
import type { KubeObject, Stored } from '@tenure/kube'
import { conflict, notFound, withWarnings } from '../../errors.ts'
import { refuseIfLarge } from '../../model/object-size.ts'
import type { StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { decode, processed, undecodable } from '../decode/decode.ts'
import type { Decoded } from '../decode/decode.ts'
import { inVersion } from '../decode/derived-object.ts'
import { finalizerWarnings, isSameContent, orderMetadata } from '../metadata/metadata.ts'
import { checkWriteOptions } from '../options/check-options.ts'
import { checkIdentity, checkVersion, namespaceFinalizers, writableFields } from './identity.ts'
import { withManagedFields, checkAcceptsNew, dropDuplicateOwners, finishCreate, finishUpdate } from './prepare.ts'
import { keyFor } from './read.ts'
import type { ResourceResponse, ResourceRequest } from '../request.ts'
import { write } from './write.ts'
import type { Draft } from './write.ts'

export type Warn = (warning: string) => void
/** Makes the next object from the current one, before the general update rules. */
export type MakeNext = (current: StoredObject | undefined, warn: Warn) => Decoded

export async function update(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  checkWriteOptions('UpdateOptions', request.options)
  const { definition, name = '', body } = request
  refuseIfLarge(request.bodyLength, body)
  // Malformed metadata is reported by decoding.
  if (isJsonObject(body) && isJsonObject(body['metadata'] ?? {})) checkIdentity(request, body)
  return change(context, request, definition.strategy.allowsCreateOnUpdate === true, (current, warn) => {
    let decoded: Decoded
    try {
      decoded = decode(context, request, body, warn, current?.object)
    } catch (error) {
      if (error instanceof DecodeError) throw undecodable(definition, body, error)
      throw error
    }
    refuseIfLarge(request.bodyLength, decoded.object)
    const { uid } = decoded.object.metadata ?? {}
    if (current && uid !== undefined && uid !== current.object.metadata.uid) {
      const key = `/registry/${definition.bucket}/${current.key}`
      throw conflict(
        definition,
        name,
        `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.object.metadata.uid}`,
      )
    }
    checkVersion(request, decoded.object, current)
    const object = dropDuplicateOwners(writableFields(request, decoded.object, current?.object), warn)
    return { ...decoded, object: withManagedFields(context, request, current?.object, object, body) }
  })
}

export async function change(
  context: RegistryContext,
  request: ResourceRequest,
  allowsCreate: boolean,
  next: MakeNext,
): Promise<ResourceResponse> {
  const warnings: string[] = []
  try {
    return await changeWarning(context, request, allowsCreate, next, warnings)
  } catch (error) {
    throw withWarnings(error, warnings)
  }
}

async function changeWarning(
  context: RegistryContext,
  request: ResourceRequest,
  allowsCreate: boolean,
  next: MakeNext,
  warnings: string[],
): Promise<ResourceResponse> {
  const { definition, namespace, name = '' } = request
  const warn: Warn = (warning) => void warnings.push(warning)
  let decoded: Decoded
  let released: KubeObject | undefined
  const draft = (current: StoredObject | undefined): Draft => {
    warnings.length = 0
    if (!current && (!allowsCreate || request.subresource)) throw notFound(definition, name)
    decoded = next(current, warn)
    if (current) return { operation: 'UPDATE', object: decoded.object, old: current.object }
    checkAcceptsNew(context, request, name)
    return { operation: 'CREATE', object: decoded.object, old: undefined }
  }
  const { stored, wasCreated } = await write(context, request, keyFor(namespace, name), warn, {
    draft,
    finish({ object, old }, admitted) {
      if (admitted === old) return old
      const fit = admitted === object ? decoded : processed(context, definition, admitted, [], old)
      const next = old
        ? finishUpdate(context, request, writableFields(request, fit.object, old), old, fit.errors)
        : finishCreate(context, request, withoutSystemFields(fit.object), fit.errors)
      if (!definition.isBuiltIn) finalizerWarnings(next.metadata ?? {}, old?.metadata).forEach(warn)
      if (!request.subresource) definition.strategy.warnings?.(next, old).forEach(warn)
      return next
    },
    decide({ old }, object) {
      if (!old) return { put: object }
      if (isReleased(request, object, old)) {
        const metadata = orderMetadata({ ...object.metadata, resourceVersion: old.metadata.resourceVersion })
        released = { ...object, metadata }
        return { remove: true }
      }
      return object === old || isSameContent(object, old) ? { keep: true } : { put: object }
    },
  })
  // A released object is returned as the write would have left it, with its previous resourceVersion.
  if (released) return { type: 'object', status: 200, object: released, warnings }
  return { type: 'object', status: wasCreated ? 201 : 200, stored: inVersion(stored, definition), warnings }
}

function withoutSystemFields(object: KubeObject): KubeObject {
  const {
    uid: _,
    creationTimestamp: __,
    resourceVersion: ___,
    deletionTimestamp: ____,
    ...rest
  } = object.metadata ?? {}
  return { ...object, metadata: rest }
}

/** Removing the last finalizer of an object that is being deleted removes the object. */
function isReleased({ definition }: ResourceRequest, next: KubeObject, old: Stored<KubeObject>): boolean {
  if (old.metadata.deletionTimestamp === undefined || (old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false
  if ((next.metadata?.finalizers?.length ?? 0) > 0) return false
  return definition.bucket !== 'namespaces' || namespaceFinalizers(next).length === 0
}
