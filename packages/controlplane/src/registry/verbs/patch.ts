import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import { defaultResetFields } from '../../apply/merge/reset-fields.ts'
import { badRequest, conflict, invalid, notFound } from '../../errors.ts'
import type { StatusError } from '../../errors.ts'
import { refuseIfLarge } from '../../model/object-size.ts'
import { goValue } from '../../patch/go-format.ts'
import type { StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { apiVersionOf, decode, undecodable, unpatchable } from '../decode/decode.ts'
import type { Decoded } from '../decode/decode.ts'
import { inVersion } from '../decode/derived-object.ts'
import { timestamp } from '../metadata/metadata.ts'
import { checkPatchOptions } from '../options/check-options.ts'
import { checkIdentity, checkVersion, writableFields } from './identity.ts'
import { withManagedFields, dropDuplicateOwners } from './prepare.ts'
import { APPLY_PATCH } from '../request.ts'
import type { ResourceResponse, ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'
import { change } from './update.ts'
import type { Warn } from './update.ts'

export async function patch(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  const isApply = request.patchType === APPLY_PATCH
  checkPatchOptions(request.options, isApply)
  return change(context, request, isApply, (current, warn) =>
    isApply ? applied(context, request, current, warn) : patched(context, request, current, warn),
  )
}

function patched(
  context: RegistryContext,
  request: ResourceRequest,
  current: StoredObject | undefined,
  warn: Warn,
): Decoded {
  const { definition, patchType, body } = request
  if (!current) throw notFound(definition, request.name ?? '')
  const base = inVersion(current, definition).object
  const result = patchWith(context, definition, patchType, base, body)
  // A JSON patch may copy the object into itself, again and again.
  refuseIfLarge(patchType === JSON_PATCH ? undefined : request.bodyLength, withoutManagers(result))
  checkIdentity(request, result as unknown as JsonObject)
  let decoded: Decoded
  try {
    decoded = decode(context, request, result, warn, current.object)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw patchType === STRATEGIC_PATCH
      ? strategicUnpatchable(body, error)
      : unpatchable(result, error, definition.isBuiltIn)
  }
  checkVersion(request, decoded.object, current)
  const object = dropDuplicateOwners(writableFields(request, decoded.object, current.object), warn)
  return { ...decoded, object: withManagedFields(context, request, current.object, object, result) }
}

/** The managers of a patched object are those of before, and may become fewer. */
function withoutManagers(object: KubeObject): KubeObject {
  if (!object.metadata?.managedFields) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

const JSON_PATCH = 'application/json-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'

function patchWith(
  { patches }: RegistryContext,
  definition: ResourceDefinition,
  type: string | undefined,
  base: KubeObject,
  body: unknown,
): KubeObject {
  switch (type) {
    case JSON_PATCH:
      return patches.json(base, body)
    case 'application/merge-patch+json':
      return patches.merge(base, body)
    default:
      return patches.strategic(base, body, definition.schema ?? {}, (ref) => definition.resolve(ref))
  }
}

/** The error of a strategic patch, which kube-apiserver converts to Go types by other code than a body. */
function conversionError({ message, mismatch }: DecodeError): string {
  if (!mismatch) return message
  const { jsonType, goType } = mismatch
  const from = { object: 'map', array: 'slice', number: 'int64' }[jsonType] ?? jsonType
  if (goType.startsWith('[]')) return `cannot restore slice from ${from}`
  if (goType.startsWith('map[')) return `cannot restore map from ${from}`
  if (/^[a-z]+\d*$/.test(goType)) return `cannot convert ${from} to ${goType}`
  return /^v\d\w*\.[A-Z]\w*$/.test(goType) ? `cannot restore struct from: ${from}` : message
}

/** A strategic patch is shown as Go prints a map. */
function strategicUnpatchable(body: unknown, error: DecodeError): StatusError {
  return invalid({ group: '', plural: '', kind: '' }, '', [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      message: `Invalid value: ${JSON.stringify(goValue(body))}: ${conversionError(error)}`,
    },
  ])
}

function applied(
  context: RegistryContext,
  request: ResourceRequest,
  current: StoredObject | undefined,
  warn: Warn,
): Decoded {
  const { definition, body, name = '', subresource } = request
  const sent = (isJsonObject(body) ? body : {}) as KubeObject
  refuseIfLarge(request.bodyLength, sent)
  const apiVersion = apiVersionOf(definition)
  if (sent.apiVersion !== apiVersion || sent.kind !== definition.kind) {
    const [version = '', group = ''] = textOf(sent.apiVersion).split('/').toReversed()
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${textOf(sent.kind)}`)
  }
  // An empty uid is none, as in Go.
  const { uid } = sent.metadata ?? {}
  if (!current && uid) {
    throw conflict(
      definition,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  }
  checkVersion(request, sent, current)
  if (current && uid && uid !== current.object.metadata.uid) {
    throw invalid(definition, name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.uid',
        message: `Invalid value: ${JSON.stringify(uid)}: field is immutable`,
      },
    ])
  }
  const live = current && inVersion(current, definition).object
  const merged = context.fields.apply({
    live,
    applied: sent,
    manager: request.options.fieldManager ?? '',
    force: request.options.force ?? false,
    apiVersion,
    subresource,
    schema: definition.schema,
    resolve: (ref) => definition.resolve(ref),
    now: timestamp(context.clock.now()),
    resetFields: defaultResetFields(definition, subresource),
    // The object is stored with both. The merge takes much longer than this.
    onFields: (fields) => refuseIfLarge(request.bodyLength, [sent, fields]),
  })
  reportDuplicateKeys(request, warn)
  checkIdentity(request, sent as unknown as JsonObject)
  // Nothing changed, and stored objects need no validation.
  if (live && merged === live) return { object: current.object, errors: [] }
  try {
    // The duplicate keys of the sent body are already reported.
    const { duplicateKeys: _, ...rest } = request
    const decoded = decode(context, rest, merged, warn, current?.object)
    return { ...decoded, object: dropDuplicateOwners(writableFields(request, decoded.object, current?.object), warn) }
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable(definition, merged, error)
    throw error
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Duplicate keys of an applied configuration. kube-apiserver reports them after the merge, in other words. */
export function reportDuplicateKeys(
  { duplicateKeys, options: { fieldValidation = 'Warn' } }: ResourceRequest,
  warn: Warn,
): void {
  if (!duplicateKeys || fieldValidation === 'Ignore') return
  if (fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicateKeys.error}`)
  }
  duplicateKeys.warnings.forEach(warn)
}
