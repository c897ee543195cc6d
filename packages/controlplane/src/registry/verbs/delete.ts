import { isDeepEqual } from '@tenure/kube/model'
import type { KubeObject, ObjectMeta, Stored } from '@tenure/kube'
import { conflict, forbidden, notFound, StatusError } from '../../errors.ts'
import type { WriteDecision, StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { asRead, inVersion, unstored } from '../decode/derived-object.ts'
import { orderMetadata, timestamp } from '../metadata/metadata.ts'
import { checkDeleteOptions } from '../options/check-options.ts'
import { keyFor, list } from './read.ts'
import type { RequestOptions, ResourceResponse, ResourceRequest } from '../request.ts'
import type { ResourceDefinition } from '../types.ts'
import { namespaceFinalizers } from './identity.ts'
import { isDryRun } from './write.ts'

const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/** How a delete changes the object. */
type Step =
  /** Marked as being deleted, and kept. */
  | { readonly mark: KubeObject; readonly thenRemove: boolean }
  | { readonly remove: true }
  /** Already being deleted, with a grace period that is not longer than the requested one. */
  | { readonly pending: true }

export async function remove(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  checkDeleteOptions(request.options)
  const { definition, name = '' } = request
  if (definition.bucket === 'namespaces' && IMMORTAL.has(name)) {
    throw forbidden(definition, name, 'this namespace may not be deleted')
  }
  return removeOne(context, request, keyFor(request.namespace, name), name)
}

async function removeOne(
  context: RegistryContext,
  request: ResourceRequest,
  key: string,
  name: string,
): Promise<ResourceResponse> {
  const { storage, admission } = context
  const { definition, subresource } = request
  const { bucket } = definition
  const warnings = isUndecided(request) ? [JOB_WARNING] : []
  const found = storage.get(bucket, key)
  if (!found) throw notFound(definition, name)
  const visible = asRead(found, definition)
  const dryRun = isDryRun(request)
  if (admission && (admission.concerns?.('DELETE', definition, subresource) ?? true)) {
    step(context, request, visible)
    const attributes = {
      operation: 'DELETE',
      definition,
      subresource,
      namespace: request.namespace,
      // A delete of a collection names no object, and webhooks receive no name.
      name: request.name ?? '',
      object: undefined,
      oldObject: visible.object,
      options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...deleteOptions(request.options) },
      user: request.user,
      dryRun,
    } as const
    const warn = (warning: string): void => void warnings.push(warning)
    await admission.mutate(attributes, warn)
    await admission.validate(attributes, warn)
  }
  if (dryRun) return dryRunResponse(context, request, key, visible, warnings)

  let outcome: Step | undefined
  const { stored } = await storage.write(bucket, key, (current): WriteDecision<undefined> => {
    if (!current) throw notFound(definition, name)
    const read = asRead(current, definition)
    outcome = step(context, request, read)
    if ('remove' in outcome) return { remove: true }
    return 'mark' in outcome && !isDeepEqual(outcome.mark, read.object) ? { put: outcome.mark } : { keep: true }
  })
  if (!outcome || 'pending' in outcome)
    return deleteResponse(definition, stored, warnings, definition.strategy.returnsDeletedObject)
  if ('remove' in outcome) return deleteResponse(definition, stored, warnings, definition.strategy.returnsDeletedObject)
  if (!outcome.thenRemove) return deleteResponse(definition, stored, warnings, true)
  return finalRemoval(context, request, key, stored, warnings)
}

const JOB_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

/** A delete of a job without a propagation policy, which keeps its pods. */
function isUndecided({ definition, options }: ResourceRequest): boolean {
  const { propagationPolicy, orphanDependents } = options
  return definition.bucket === 'jobs.batch' && propagationPolicy === undefined && orphanDependents === undefined
}

/** A grace period of zero ends at once; watches see the mark and then the deletion. */
async function finalRemoval(
  { storage }: RegistryContext,
  { definition }: ResourceRequest,
  key: string,
  marked: StoredObject,
  warnings: readonly string[],
): Promise<ResourceResponse> {
  let last = marked
  await storage
    .write(definition.bucket, key, (current): WriteDecision<undefined> => {
      // The object was removed meanwhile, or its name has a new owner.
      if (!current || current.object.metadata.uid !== marked.object.metadata.uid) throw new AlreadyGone()
      last = current
      return (current.object.metadata.finalizers?.length ?? 0) > 0 ? { keep: true } : { remove: true }
    })
    .then(({ stored }) => (last = stored), ignoreGone)
  return deleteResponse(definition, last, warnings, definition.strategy.returnsDeletedObject)
}

class AlreadyGone extends Error {}

function ignoreGone(error: unknown): void {
  if (!(error instanceof AlreadyGone)) throw error
}

function deleteResponse(
  definition: ResourceDefinition,
  stored: StoredObject,
  warnings: readonly string[],
  asObject: boolean | undefined,
): ResourceResponse {
  if (asObject) return { type: 'object', status: 200, stored: inVersion(stored, definition), warnings }
  const { name, uid } = stored.object.metadata
  return { type: 'deleted', name, uid, warnings }
}

function dryRunResponse(
  context: RegistryContext,
  request: ResourceRequest,
  key: string,
  current: StoredObject,
  warnings: readonly string[],
): ResourceResponse {
  const outcome = step(context, request, current)
  const { strategy } = request.definition
  if ('mark' in outcome) {
    const object = { ...outcome.mark } as Stored<KubeObject>
    return deleteResponse(request.definition, unstored(key, object), warnings, true)
  }
  return deleteResponse(request.definition, current, warnings, strategy.returnsDeletedObject)
}

function step(context: RegistryContext, request: ResourceRequest, { object }: StoredObject): Step {
  const { definition, options } = request
  checkPreconditions(definition, options, object)
  if (definition.bucket === 'namespaces') return namespaceStep(context, object)
  const { strategy } = definition
  const { metadata } = object
  const now = context.clock.now()
  if (strategy.beginDeletion && metadata.deletionTimestamp === undefined) {
    const marked = { ...object, metadata: { ...metadata, deletionTimestamp: timestamp(now) } }
    const mark = strategy.beginDeletion(marked)
    return { mark: { ...mark, metadata: orderMetadata(mark.metadata ?? {}) }, thenRemove: false }
  }
  const asked = options.gracePeriodSeconds === undefined ? undefined : grace(options.gracePeriodSeconds)
  const usual = strategy.gracePeriod?.(object)
  let next: ObjectMeta = metadata
  let isGraceful = false
  let period = 0
  if (usual !== undefined) {
    const left = metadata.deletionGracePeriodSeconds ?? 0
    if (metadata.deletionTimestamp === undefined) {
      isGraceful = true
      period = usual === 0 ? 0 : (asked ?? usual)
      next = {
        ...metadata,
        deletionTimestamp: timestamp(now + period * 1000),
        deletionGracePeriodSeconds: period,
        ...(metadata.generation !== undefined && { generation: metadata.generation + 1 }),
      }
    } else if (left > 0) {
      if (asked === undefined || asked >= left) return { pending: true }
      isGraceful = true
      const due = Date.parse(metadata.deletionTimestamp) - left * 1000 + asked * 1000
      period = due < now && asked !== 0 ? 1 : asked
      next = { ...metadata, deletionTimestamp: timestamp(Math.max(due, now)), deletionGracePeriodSeconds: period }
    }
  }
  const finalizers = propagated(definition, options, metadata.finalizers ?? [])
  if (!isGraceful && finalizers.length === 0) return { remove: true }
  if (!isGraceful) next = markedNow(metadata, now)
  const mark = {
    ...object,
    metadata: orderMetadata({ ...next, finalizers: finalizers.length > 0 ? finalizers : undefined } as ObjectMeta),
  }
  return { mark, thenRemove: isGraceful && period === 0 && finalizers.length === 0 }
}

function markedNow(metadata: Stored<KubeObject>['metadata'], now: number): ObjectMeta {
  const isFirst = metadata.deletionTimestamp === undefined
  return {
    ...metadata,
    deletionTimestamp:
      metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) <= now
        ? metadata.deletionTimestamp
        : timestamp(now),
    deletionGracePeriodSeconds: 0,
    ...(isFirst && metadata.generation !== undefined && { generation: metadata.generation + 1 }),
  }
}

/** A namespace is only marked; it is removed when its contents are gone and its finalizers are removed. */
function namespaceStep({ clock }: RegistryContext, object: Stored<KubeObject>): Step {
  const { metadata } = object
  if (metadata.deletionTimestamp === undefined) {
    const { status } = object as { readonly status?: object }
    const marked = { ...metadata, deletionTimestamp: timestamp(clock.now()) }
    return {
      mark: { ...object, metadata: orderMetadata(marked), status: { ...status, phase: 'Terminating' } } as KubeObject,
      thenRemove: false,
    }
  }
  const isHeld = namespaceFinalizers(object).length > 0 || (metadata.finalizers?.length ?? 0) > 0
  return isHeld ? { mark: object, thenRemove: false } : { remove: true }
}

/** A negative grace period counts as one second. */
const grace = (seconds: number): number => (seconds < 0 ? 1 : seconds)

function checkPreconditions(definition: ResourceDefinition, options: RequestOptions, { metadata }: KubeObject): void {
  const { uid, resourceVersion } = options.preconditions ?? {}
  // kube-apiserver names the kind here, not the resource.
  const named = { ...definition, plural: definition.kind }
  if (uid !== undefined && uid !== metadata?.uid) {
    throw conflict(
      named,
      metadata?.name ?? '',
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata?.uid}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion) {
    throw conflict(
      named,
      metadata?.name ?? '',
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata?.resourceVersion}). The object might have been modified`,
    )
  }
}

/** The finalizers that tell the garbage collector how to treat dependents. */
function propagated(
  { strategy }: ResourceDefinition,
  { propagationPolicy, orphanDependents }: RequestOptions,
  finalizers: readonly string[],
): readonly string[] {
  const chosen =
    orphanDependents === undefined
      ? (propagationPolicy ??
        (finalizers.includes(ORPHAN)
          ? 'Orphan'
          : finalizers.includes(FOREGROUND)
            ? 'Foreground'
            : (strategy.defaultPropagation ?? 'Background')))
      : orphanDependents
        ? 'Orphan'
        : 'Background'
  const others = finalizers.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND)
  const next = chosen === 'Orphan' ? [...others, ORPHAN] : chosen === 'Foreground' ? [...others, FOREGROUND] : others
  const isSame = next.length === finalizers.length && next.every((finalizer) => finalizers.includes(finalizer))
  return isSame ? finalizers : next
}

function deleteOptions(options: RequestOptions): Readonly<Record<string, unknown>> {
  const { propagationPolicy, gracePeriodSeconds, orphanDependents, preconditions, dryRun } = options
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && dryRun.length > 0 && { dryRun }),
  }
}

/** Deletes all objects that a list with the same options returns, and returns that list. */
export async function removeCollection(context: RegistryContext, request: ResourceRequest): Promise<ResourceResponse> {
  checkDeleteOptions(request.options)
  const listed = list(context, request)
  if (listed.type !== 'list') return listed
  for (let at = 0; at < listed.items.length; at += MAX_CONCURRENT_DELETES) {
    const batch = listed.items.slice(at, at + MAX_CONCURRENT_DELETES).map(async ({ key, object }) => {
      const { name, namespace } = object.metadata
      try {
        await removeOne(context, { ...request, verb: 'delete', name: undefined, namespace }, key, name)
      } catch (error) {
        // It was deleted meanwhile, which is the wanted result.
        if (!(error instanceof StatusError) || error.code !== 404) throw error
      }
    })
    await Promise.all(batch)
  }
  return listed
}

/** Objects of a collection that are deleted concurrently: they share commits of the log. */
const MAX_CONCURRENT_DELETES = 64
