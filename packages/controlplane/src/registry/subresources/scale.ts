import { isJsonObject, valueAtPath } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'
import { entriesAfterScale, scaleEntries } from '../../apply/managers/scale.ts'
import { badRequest, conflict, invalid, notFound, withWarnings } from '../../errors.ts'
import { builtInSchema, resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import type { StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { apiVersionOf, processed, report, unpatchable } from '../decode/decode.ts'
import { valueAt, withValueAt } from '../dotted-path.ts'
import { orderMetadata, timestamp } from '../metadata/metadata.ts'
import { checkPatchOptions, checkWriteOptions } from '../options/check-options.ts'
import { reportDuplicateKeys } from '../verbs/patch.ts'
import { finishUpdate, managerOf } from '../verbs/prepare.ts'
import { find, keyFor } from '../verbs/read.ts'
import { APPLY_PATCH } from '../request.ts'
import type { ResourceResponse, ResourceRequest } from '../request.ts'
import type { ResourceDefinition, ScalePaths } from '../types.ts'
import type { Warn } from '../verbs/update.ts'
import { MODIFIED, write } from '../verbs/write.ts'

export interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

const SCALE_VERSION = 'autoscaling/v1'

/** The Scale of an object. */
export function scaleOf(object: KubeObject, paths: ScalePaths, isBuiltIn: boolean): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {}
  const replicas = valueAt(object, paths.specReplicas)
  const current = valueAt(object, paths.statusReplicas)
  // Built-in kinds have the selector in the same place; custom resources name its path.
  const selectorPath = isBuiltIn ? 'spec.selector' : paths.labelSelector
  const selector = selectorPath === undefined ? undefined : selectorText(valueAt(object, selectorPath))
  return {
    kind: 'Scale',
    apiVersion: SCALE_VERSION,
    metadata: orderMetadata({
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    }),
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: typeof current === 'number' ? current : 0, ...(selector && { selector }) },
  }
}

function selectorText(selector: unknown): string | undefined {
  if (typeof selector === 'string') return selector
  if (!isJsonObject(selector)) return undefined
  // ReplicationControllers have plain labels as selector.
  const isPlain = !('matchLabels' in selector) && !('matchExpressions' in selector)
  return LabelMatcher.from(
    isPlain ? { matchLabels: selector as Readonly<Record<string, string>> } : selector,
  ).toString()
}

export async function scale(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  const { definition, verb, name = '', namespace } = request
  const paths = definition.scale
  if (!paths) throw notFound(definition, name)
  const view = (object: KubeObject): Scale => scaleOf(object, paths, definition.isBuiltIn)
  if (verb === 'get') {
    return { type: 'object', status: 200, object: view(find(context, request).object), warnings: [] }
  }
  if (verb === 'patch') checkPatchOptions(request.options, request.patchType === APPLY_PATCH)
  else checkWriteOptions('UpdateOptions', request.options)
  const warnings: string[] = []
  const warn: Warn = (warning) => void warnings.push(warning)
  try {
    const { stored } = await write(context, request, keyFor(namespace, name), warn, {
      draft(current) {
        if (!current) throw notFound(definition, name)
        const { object } = current
        return { operation: 'UPDATE', object: scaled(context, request, current, warn), old: object }
      },
      finish({ old }, object) {
        if (!old) return object
        const { errors } = definition.isBuiltIn ? { errors: [] } : processed(context, definition, object, [], old)
        return finishUpdate(context, request, object, old, errors)
      },
    })
    return { type: 'object', status: 200, object: view(stored.object), warnings }
  } catch (error) {
    throw withWarnings(error, warnings)
  }
}

/** The object with the replicas of the sent Scale, and with their field manager. */
function scaled(context: RegistryContext, request: ResourceRequest, { object }: StoredObject, warn: Warn): KubeObject {
  const { definition } = request
  const paths = definition.scale
  if (!paths) throw notFound(definition, request.name ?? '')
  const replicas = paths.specReplicas.split('.').filter((key) => key !== '')
  const { managedFields } = object.metadata
  const plain = scaleOf(object, paths, definition.isBuiltIn)
  const entries = scaleEntries(managedFields, replicas)
  const live: Scale = entries ? { ...plain, metadata: { ...plain.metadata, managedFields: entries } } : plain
  const next = nextScale(context, request, live, warn)
  checkScale(request, next, object)
  const changed = withValueAt<KubeObject>(object, paths.specReplicas, next.spec?.replicas ?? 0)
  const owners = entriesAfterScale(managedFields, next.metadata?.managedFields, {
    apiVersion: apiVersionOf(definition),
    replicas,
  })
  const { managedFields: _, ...metadata } = object.metadata
  return { ...changed, metadata: owners ? { ...metadata, managedFields: owners } : metadata }
}

/** The next Scale, with its field manager. */
function nextScale(context: RegistryContext, request: ResourceRequest, live: Scale, warn: Warn): Partial<Scale> {
  const { patches, fields, clock } = context
  const { verb, patchType, body, options } = request
  const managed = {
    manager: managerOf(request),
    apiVersion: SCALE_VERSION,
    subresource: request.subresource,
    schema: builtInSchema('autoscaling', 'v1', 'Scale'),
    resolve: resolveBuiltIn,
    now: timestamp(clock.now()),
    resetFields: [],
  }
  if (patchType === APPLY_PATCH) {
    const applied = (isJsonObject(body) ? body : {}) as KubeObject
    const merged = fields.apply({ ...managed, live, applied, force: options.force ?? false })
    reportDuplicateKeys(request, warn)
    refuseMistyped(merged, (error) => unpatchable(merged, new DecodeError(error)))
    return merged
  }
  let next: Partial<Scale>
  if (verb === 'update') {
    checkKind(body)
    refuseMistyped(body, unfitting)
    reportFields(request, warn)
    next = body as Partial<Scale>
  } else {
    // A Scale has no lists, so a strategic patch equals a merge patch.
    const isJsonPatch = patchType === 'application/json-patch+json'
    const patched = isJsonPatch ? patches.json(live, body) : patches.merge(live, body)
    refuseMistyped(patched, (error) => unpatchable(patched, new DecodeError(error)))
    next = patched
  }
  const { apiVersion = '', kind = '' } = live
  return fields.update({ ...managed, live, next: { ...next, apiVersion, kind } })
}

const unfitting = (error: string): Error => badRequest(`Scale in version "v1" cannot be handled as a Scale: ${error}`)

/** Duplicate and unknown fields of the sent Scale. */
function reportFields(request: ResourceRequest, warn: Warn): void {
  const schema = builtInSchema('autoscaling', 'v1', 'Scale')
  const { unknown } = schema ? decodeBuiltIn(schema, resolveBuiltIn, request.body) : { unknown: [] }
  try {
    report(request, unknown, warn)
  } catch (error) {
    throw error instanceof DecodeError ? unfitting(error.message) : error
  }
}

function checkKind(body: unknown): void {
  if (!isJsonObject(body)) throw badRequest('the object provided is unrecognized (must be of type Scale)')
  const what = typeof body['kind'] === 'string' && body['kind'] ? body['kind'] : 'Scale'
  const version = typeof body['apiVersion'] === 'string' && body['apiVersion'] ? body['apiVersion'] : SCALE_VERSION
  if (what === 'Scale' && version === SCALE_VERSION) return
  throw badRequest(
    `${what} in version "${version.split('/').at(-1)}" cannot be handled as a Scale: no kind "${what}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`,
  )
}

/** Go's message for replicas that are not an integer. */
function refuseMistyped(body: unknown, toError: (error: string) => Error): void {
  const replicas = valueAtPath(body, 'spec', 'replicas')
  if (replicas === undefined || replicas === null || Number.isInteger(replicas)) return
  const what = typeof replicas === 'number' ? `number ${replicas}` : typeof replicas
  throw toError(`json: cannot unmarshal ${what} into Go struct field ScaleSpec.spec.replicas of type int32`)
}

function checkScale(request: ResourceRequest, next: Partial<Scale>, current: KubeObject): void {
  const { definition, name = '' } = request
  const { name: sentName, resourceVersion, uid } = next.metadata ?? {}
  if (sentName !== undefined && sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`)
  }
  checkReplicas(definition, name, next.spec?.replicas ?? 0)
  if (definition.isBuiltIn && uid && uid !== current.metadata?.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata?.uid}`
    throw conflict({ ...definition, plural: `${definition.plural}/scale` }, name, why)
  }
  if (resourceVersion && resourceVersion !== current.metadata?.resourceVersion) {
    throw conflict(definition, name, MODIFIED)
  }
}

/** Custom resources validate their replicas themselves. */
function checkReplicas({ isBuiltIn }: ResourceDefinition, name: string, replicas: number): void {
  if (replicas >= 0 || !isBuiltIn) return
  throw invalid({ group: 'autoscaling', plural: 'scales', kind: 'Scale' }, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
    },
  ])
}
