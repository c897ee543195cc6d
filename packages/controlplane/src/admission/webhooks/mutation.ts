import type { KubeObject } from '@tenure/kube'
import { isJsonObject } from '@tenure/kube/model'
import { badRequest, StatusError } from '../../errors.ts'
import { goKind } from '../../patch/go-format.ts'
import { applyJsonPatch } from '../../patch/json-patch.ts'
import { JsonSyntaxError, parseJson } from '../../registry/decode/json-text.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { goQuote } from '../../schema/go-text.ts'
import { process } from '../../schema/validation/process.ts'
import { CallFailure, internalError } from './errors.ts'
import type { Operations } from './patch-failure.ts'
import { patchFailure } from './patch-failure.ts'
import type { WebhookReviewResponse } from './review.ts'

/** Applies the patch of a webhook's response. Returns undefined if nothing changes. */
export function patchedBy(
  webhook: string,
  { patch, patchType }: WebhookReviewResponse,
  object: KubeObject | undefined,
): KubeObject | undefined {
  if (patch === '') return undefined
  const operations = decode(webhook, patch)
  if (operations.length === 0) return undefined
  if (!object) {
    throw internalError(
      `admission webhook ${goQuote(webhook)} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== 'JSONPatch') throw new CallFailure(webhook, `unsupported patch type ${goQuote(patchType)}`)
  try {
    return applyJsonPatch(object, operations)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internalError(patchFailure(object, operations))
  }
}

function decode(webhook: string, patch: string): Operations {
  const undecodable = (why: string) =>
    new CallFailure(webhook, `received undecodable patch in webhook response: ${why}`)
  let value: unknown
  try {
    ;({ value } = parseJson(patch))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw undecodable(error.message)
  }
  if (value === null) return []
  if (!Array.isArray(value) || !value.every((operation) => isJsonObject(operation))) {
    throw undecodable(`json: cannot unmarshal ${goKind(value)} into Go value of type jsonpatch.Patch`)
  }
  return value
}

/**
 * Refuses a changed name or namespace on create, because the registry has already chosen the storage key. (kube-apiserver
 * permits a rename.) On update the registry refuses the change itself.
 */
export function checkNameUnchanged(webhook: string, object: KubeObject, patched: KubeObject): void {
  const { name, namespace } = object.metadata ?? {}
  if (patched.metadata?.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (patched.metadata?.name !== name) {
    throw internalError(`admission webhook ${goQuote(webhook)} attempted to rename the object, which is not supported`)
  }
}

/** Decodes a patched object and applies defaults, so that the next webhook receives it as it would be stored. */
export function decodedWithDefaults(definition: ResourceDefinition, patched: KubeObject): KubeObject {
  const { schema, strategy, isBuiltIn } = definition
  const resolve = (ref: string) => definition.resolve(ref)
  let object = patched
  if (schema && isBuiltIn) {
    const decoded = decodeBuiltIn(schema, resolve, patched)
    if (decoded.error !== undefined) throw internalError(decoded.error)
    object = decoded.object as KubeObject
  } else if (schema) {
    object = process(schema, resolve, patched, { default: true, prune: false }).object as KubeObject
  }
  return strategy.defaults?.(object) ?? object
}
