import type { KubeObject } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'
import { badRequest, conflict, invalid, notFound } from '../errors.ts'
import type { StoredObject } from '../storage/types.ts'
import type { RegistryContext } from './context.ts'
import { DecodeError } from './decode-error.ts'
import { unpatchable } from './decode.ts'
import { isObject, valueAt, withValueAt } from './json.ts'
import { orderMetadata } from './metadata.ts'
import { checkPatchOptions, checkWriteOptions } from './options.ts'
import { book, finishUpdate } from './prepare.ts'
import { find, keyFor } from './read.ts'
import type { ResourceAnswer, ResourceRequest } from './request.ts'
import type { ScalePaths } from './types.ts'
import { APPLY_PATCH } from './patch.ts'
import { MODIFIED, write } from './writer.ts'

interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

/** An object as its Scale: the same view of every kind that has replicas. */
function scaleOf({ object }: StoredObject, paths: ScalePaths, isBuiltIn: boolean): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, paths.specReplicas)
  const current = valueAt(object, paths.statusReplicas)
  // All built-in kinds have it in the same place.
  const selectorPath = paths.labelSelector ?? (isBuiltIn ? 'spec.selector' : undefined)
  const selector = selectorPath === undefined ? undefined : selectorText(valueAt(object, selectorPath))
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: orderMetadata({
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace !== undefined && { namespace }),
    }),
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: typeof current === 'number' ? current : 0, ...(selector && { selector }) },
  }
}

function selectorText(selector: unknown): string | undefined {
  if (typeof selector === 'string') return selector
  if (!isObject(selector)) return undefined
  // ReplicationControllers have plain labels there.
  const isPlain = !('matchLabels' in selector) && !('matchExpressions' in selector)
  return LabelMatcher.from(
    isPlain ? { matchLabels: selector as Readonly<Record<string, string>> } : selector,
  ).toString()
}

export async function scale(context: RegistryContext, request: ResourceRequest): Promise<ResourceAnswer> {
  const { definition, verb, name = '', namespace } = request
  const paths = definition.scale
  if (!paths) throw notFound(definition, name)
  if (verb === 'get') {
    return {
      type: 'object',
      status: 200,
      object: scaleOf(find(context, request), paths, definition.isBuiltIn),
      warnings: [],
    }
  }
  const isApply = request.patchType === APPLY_PATCH
  if (verb === 'patch') checkPatchOptions(request.options, isApply)
  else checkWriteOptions('UpdateOptions', request.options)
  const warnings: string[] = []
  const { stored } = await write(context, request, keyFor(namespace, name), (warning) => warnings.push(warning), {
    draft(current) {
      if (!current) throw notFound(definition, name)
      const next = nextScale(context, request, scaleOf(current, paths, definition.isBuiltIn))
      checkScale(request, next, current)
      const object = withValueAt(current.object as KubeObject, paths.specReplicas, next.spec?.replicas ?? 0)
      return { operation: 'UPDATE', object: book(context, request, current.object, object), old: current.object }
    },
    finish({ old }, object) {
      return old ? finishUpdate(request, object, old, []) : object
    },
  })
  return { type: 'object', status: 200, object: scaleOf(stored, paths, definition.isBuiltIn), warnings }
}

function nextScale({ patches }: RegistryContext, request: ResourceRequest, current: Scale): Partial<Scale> {
  const { verb, patchType, body } = request
  if (verb === 'update') {
    const error = isObject(body) ? mistyped(body) : 'it is no object'
    if (error !== undefined) throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${error}`)
    return body as Partial<Scale>
  }
  // A Scale has no lists, so that the other kinds of patch come to the same.
  const isJsonPatch = patchType === 'application/json-patch+json'
  const patched = isJsonPatch ? patches.json(current, body) : patches.merge(current, body)
  const error = mistyped(patched)
  if (error !== undefined) throw unpatchable(patched, new DecodeError(error))
  return patched
}

/** What Go would say of replicas that are no whole number. */
function mistyped(body: unknown): string | undefined {
  const replicas = valueAt(body, 'spec.replicas')
  if (replicas === undefined || replicas === null || Number.isInteger(replicas)) return undefined
  const what = typeof replicas === 'number' ? `number ${replicas}` : typeof replicas
  return `json: cannot unmarshal ${what} into Go struct field ScaleSpec.spec.replicas of type int32`
}

function checkScale(request: ResourceRequest, next: Partial<Scale>, current: StoredObject): void {
  const { definition, name = '' } = request
  const { name: sentName, resourceVersion } = next.metadata ?? {}
  if (sentName !== undefined && sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`)
  }
  if (resourceVersion && resourceVersion !== current.object.metadata.resourceVersion) {
    throw conflict(definition, name, MODIFIED)
  }
  const replicas = next.spec?.replicas ?? 0
  if (replicas >= 0) return
  throw invalid({ group: 'autoscaling', plural: 'scales', kind: 'Scale' }, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
    },
  ])
}
