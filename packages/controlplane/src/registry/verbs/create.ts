import { withoutField } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import { randomSuffix } from '@tenure/kube'
import { withWarnings, StatusError } from '../../errors.ts'
import { refuseIfLarge } from '../../model/object-size.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { decode, processed, undecodable } from '../decode/decode.ts'
import type { Decoded } from '../decode/decode.ts'
import { inVersion } from '../decode/derived-object.ts'
import { finalizerWarnings } from '../metadata/metadata.ts'
import { checkWriteOptions } from '../options/check-options.ts'
import { wrongNamespace } from './identity.ts'
import { withManagedFields, checkAcceptsNew, dropDuplicateOwners, finishCreate } from './prepare.ts'
import { keyFor } from './read.ts'
import type { ResourceResponse, ResourceRequest } from '../request.ts'
import { write } from './write.ts'

/** Attempts to find a generated name that is free. */
const MAX_NAME_ATTEMPTS = 8
/** Maximum characters before the generated suffix, so that the name has at most 63. */
const MAX_NAME_PREFIX_LENGTH = 58

export async function create(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  checkWriteOptions('CreateOptions', request.options)
  const warnings: string[] = []
  try {
    return await createWarning(context, request, warnings)
  } catch (error) {
    throw withWarnings(error, warnings)
  }
}

async function createWarning(
  context: RegistryContext,
  request: ResourceRequest,
  warnings: string[],
): Promise<ResourceResponse> {
  const warn = (warning: string): void => void warnings.push(warning)
  const decoded = decodeWhole(context, request, warn)
  const { generateName, name } = decoded.object.metadata ?? {}
  if (name !== undefined || generateName === undefined) return createNamed(context, request, decoded, warnings)
  let last: unknown
  for (let attempt = 0; attempt < MAX_NAME_ATTEMPTS; attempt++) {
    const drawn = generateName.slice(0, MAX_NAME_PREFIX_LENGTH) + randomSuffix(context.random)
    try {
      return await createNamed(context, request, decoded, warnings, drawn)
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
      const message = `${error.message}, the server was not able to generate a unique name for the object`
      last = new StatusError(409, 'AlreadyExists', message, { ...error.details, retryAfterSeconds: 1 })
    }
  }
  throw last
}

function decodeWhole(context: RegistryContext, request: ResourceRequest, warn: (warning: string) => void): Decoded {
  const { definition, namespace } = request
  refuseIfLarge(request.bodyLength, request.body)
  let decoded: Decoded
  try {
    decoded = decode(context, request, request.body, warn)
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable(definition, request.body, error)
    throw error
  }
  // Defaults may make it much larger than what was sent.
  refuseIfLarge(request.bodyLength, decoded.object)
  const { metadata = {} } = decoded.object
  const { uid: _, creationTimestamp: __, deletionTimestamp: ___, ...kept } = metadata
  const { deletionGracePeriodSeconds: ____, selfLink: _____, ...rest } = kept
  if (rest.namespace !== undefined && rest.namespace !== namespace && definition.namespaced) throw wrongNamespace()
  const sent = namespace === undefined || !definition.namespaced ? rest : { ...rest, namespace }
  let object: KubeObject = { ...decoded.object, metadata: sent }
  if (definition.hasStatus && !definition.strategy.keepsStatusOnCreate) object = withoutField(object, 'status')
  return { ...decoded, object: dropDuplicateOwners(object, warn) }
}

async function createNamed(
  context: RegistryContext,
  request: ResourceRequest,
  decoded: Decoded,
  warnings: string[],
  drawn?: string,
): Promise<ResourceResponse> {
  const { definition, namespace } = request
  const { name, generateName = '' } = decoded.object.metadata ?? {}
  const managed = withManagedFields(context, request, undefined, decoded.object, request.body)
  const warn = (warning: string): void => void warnings.push(warning)
  const { stored } = await write(context, request, keyFor(namespace, name ?? ''), warn, {
    draft() {
      checkAcceptsNew(context, request, name ?? generateName)
      return { operation: 'CREATE', object: managed, old: undefined }
    },
    finish(_, object) {
      // An object changed by a webhook must conform to the schema as well.
      const { object: fit, errors } =
        object === managed ? { object, errors: decoded.errors } : processed(context, definition, object, [], undefined)
      // Admission sees the object without a name, and may set one.
      const isNameless = drawn !== undefined && !fit.metadata?.name
      const named = isNameless ? { ...fit, metadata: { ...fit.metadata, name: drawn } } : fit
      const next = finishCreate(context, request, named, errors)
      if (!definition.isBuiltIn) finalizerWarnings(next.metadata ?? {}, undefined).forEach(warn)
      definition.strategy.warnings?.(next, undefined).forEach(warn)
      return next
    },
    keyOf: ({ metadata }) => keyFor(namespace, metadata?.name ?? ''),
    mustNotExist: true,
  })
  return { type: 'object', status: 201, stored: inVersion(stored, definition), warnings }
}
