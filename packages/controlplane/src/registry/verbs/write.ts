import type { KubeObject, Stored } from '@tenure/kube'
import { alreadyExists, conflict } from '../../errors.ts'
import type { WriteDecision, StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { inVersion, unstored } from '../decode/derived-object.ts'
import { orderMetadata } from '../metadata/metadata.ts'
import type { AdmissionAttributes, ResourceRequest } from '../request.ts'

/** The result of a write on one state of the object, before admission. */
export interface Draft {
  readonly operation: 'CREATE' | 'UPDATE'
  readonly object: KubeObject
  readonly old: Stored<KubeObject> | undefined
}

export interface WriteSteps {
  /** Makes the new object from the newest state: applies a patch or decodes a body. Pure, because it may run again. */
  draft(current: StoredObject | undefined): Draft
  /** Sets server-set fields and validates, after mutating admission; throws the errors. */
  finish(draft: Draft, object: KubeObject): KubeObject
  /** A creation: refused if the object exists. */
  readonly mustNotExist?: true
  /** The key of the finished object, if it is known only then. Default: the key of the request. */
  keyOf?(next: KubeObject): string
  /** The decision for the finished object. Default: it is stored. */
  decide?(draft: Draft, next: KubeObject): WriteDecision<undefined>
}

export interface WriteResult {
  readonly stored: StoredObject
  readonly wasCreated: boolean
}

/** The message of every lost race. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** Attempts of a write that always finds a newer state. */
const MAX_WRITE_ATTEMPTS = 50

/** Thrown from a decision when the object is not the one that admission has seen. */
class Changed extends Error {
  readonly newest: StoredObject | undefined

  constructor(newest: StoredObject | undefined) {
    super('changed meanwhile')
    this.newest = newest
  }
}

export const isDryRun = ({ options }: ResourceRequest): boolean => (options.dryRun?.length ?? 0) > 0

/**
 * Carries out a write. Without admission it is decided in one step, on the newest state; otherwise admission sees a
 * state, and the write is repeated if that is no longer the newest when it is stored.
 */
export async function write(
  context: RegistryContext,
  request: ResourceRequest,
  key: string,
  warn: (warning: string) => void,
  steps: WriteSteps,
): Promise<WriteResult> {
  const { storage, admission } = context
  const { definition } = request
  const { bucket, conversion } = definition
  const served = (current: StoredObject | undefined) => current && inVersion(current, definition)
  const dryRun = isDryRun(request)
  const decide = (draft: Draft, next: KubeObject, current: StoredObject | undefined): WriteDecision<undefined> => {
    // Last, as in kube-apiserver: validation errors come before the conflict with an existing object.
    if (steps.mustNotExist) refuseExisting(request, current, next.metadata?.name ?? '')
    const decision = steps.decide?.(draft, next) ?? { put: next }
    return conversion && 'put' in decision ? { put: conversion.toStored(decision.put) } : decision
  }

  const isAsked = concerns(context, request)
  if (!dryRun && !isAsked) {
    let wasCreated = false
    if (steps.keyOf && steps.mustNotExist) {
      const draft = steps.draft(undefined)
      const next = steps.finish(draft, draft.object)
      const { stored } = await storage.write(bucket, steps.keyOf(next), (current) => decide(draft, next, current))
      return { stored, wasCreated: true }
    }
    const { stored } = await storage.write(bucket, key, (current) => {
      const draft = steps.draft(served(current))
      wasCreated = draft.operation === 'CREATE'
      return decide(draft, steps.finish(draft, draft.object), current)
    })
    return { stored, wasCreated }
  }

  let current = storage.get(bucket, key)
  for (let round = 0; round < MAX_WRITE_ATTEMPTS; round++) {
    const draft = steps.draft(served(current))
    const attributes = attributesOf(request, key, draft, dryRun)
    const admitted = isAsked ? await admission?.mutate(attributes, warn) : draft.object
    const next = steps.finish(draft, admitted ?? draft.object)
    const name = attributes.name || (next.metadata?.name ?? '')
    if (isAsked) await admission?.validate({ ...attributes, name, object: next }, warn)
    const place = steps.keyOf?.(next) ?? key
    const wasCreated = draft.operation === 'CREATE'
    if (dryRun) {
      decide(draft, next, place === key ? current : storage.get(bucket, place))
      return {
        stored: dryRunResult(place, next, current?.revision ?? draft.object.metadata?.resourceVersion),
        wasCreated,
      }
    }
    try {
      const seen = current?.revision
      const { stored } = await storage.write(bucket, place, (newest) => {
        if (newest?.revision !== seen && !steps.mustNotExist) throw new Changed(newest)
        return decide(draft, next, newest)
      })
      return { stored, wasCreated }
    } catch (error) {
      if (!(error instanceof Changed)) throw error
      current = error.newest
    }
  }
  throw conflict(request.definition, request.name ?? '', MODIFIED)
}

function concerns({ admission }: RegistryContext, { verb, definition, subresource }: ResourceRequest): boolean {
  if (!admission) return false
  if (!admission.concerns) return true
  // An update or a patch may create.
  const operations = verb === 'create' ? (['CREATE'] as const) : (['UPDATE', 'CREATE'] as const)
  return operations.some((operation) => admission.concerns?.(operation, definition, subresource))
}

function attributesOf(request: ResourceRequest, key: string, draft: Draft, dryRun: boolean): AdmissionAttributes {
  const { definition, subresource, namespace, user, options } = request
  return {
    operation: draft.operation,
    definition,
    subresource,
    namespace,
    name: request.name ?? key.slice(key.indexOf('/') + 1),
    object: draft.object,
    oldObject: draft.old,
    options: {
      kind: draft.operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun && { dryRun: ['All'] }),
      ...(options.fieldManager && { fieldManager: options.fieldManager }),
      ...(options.fieldValidation && { fieldValidation: options.fieldValidation }),
    },
    user,
    dryRun,
  }
}

/** The result of a dry run: a creation with the resourceVersion that was sent, if any, an update with the stored one. */
function dryRunResult(key: string, next: KubeObject, version: number | string | undefined): StoredObject {
  const { resourceVersion: _, ...metadata } = next.metadata ?? {}
  const shown = version ? { ...metadata, resourceVersion: String(version) } : metadata
  return unstored(key, { ...next, metadata: orderMetadata(shown) } as Stored<KubeObject>)
}

/** Refuses a creation if the object exists. */
function refuseExisting(request: ResourceRequest, current: StoredObject | undefined, name: string): void {
  if (!current) return
  const error = alreadyExists(request.definition, name)
  if (current.object.metadata.deletionTimestamp !== undefined)
    error.message = `object is being deleted: ${error.message}`
  throw error
}
