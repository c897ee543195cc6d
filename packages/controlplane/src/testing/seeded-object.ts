import { isDeepEqual, type JsonObject } from '@tenure/kube/model'
import type { KubeObject, Random, Stored } from '@tenure/kube'
import { apiVersionOf } from '../registry/decode/decode.ts'
import { orderMetadata, timestamp } from '../registry/metadata/metadata.ts'
import { newUid } from '../registry/verbs/prepare.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import type { WriteDecision } from '../storage/types.ts'

export interface SeedContext {
  readonly definition: ResourceDefinition
  /** Wall time in milliseconds. */
  readonly now: number
  readonly random: Random
}

/**
 * Decides what seeding writes: the object as given, without defaults or validation. A new object gets its identity; one that
 * exists keeps its own, and its generation counts changes of the spec.
 */
export function seededObject(
  given: KubeObject,
  live: Stored<KubeObject> | undefined,
  context: SeedContext,
): WriteDecision<undefined> {
  const { definition } = context
  // A copy without undefined fields.
  const body = JSON.parse(JSON.stringify(given)) as KubeObject & JsonObject
  const { resourceVersion: _, ...metadata } = body.metadata ?? {}
  const object: KubeObject = { ...body, kind: definition.kind, apiVersion: apiVersionOf(definition) }
  if (!live) {
    const generation = body['spec'] === undefined ? {} : { generation: 1 }
    const identity = { uid: newUid(context.random), creationTimestamp: timestamp(context.now) }
    return { put: stored(definition, { ...object, metadata: { ...metadata, ...identity, ...generation } }) }
  }
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = live.metadata
  const isSameSpec = isDeepEqual(body['spec'], (live as KubeObject & JsonObject)['spec'])
  const generation = live.metadata.generation === undefined ? undefined : live.metadata.generation + Number(!isSameSpec)
  const kept = { name, namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation }
  const set = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  const { resourceVersion: __, ...before } = live.metadata
  const next = { ...object, metadata: { ...before, ...metadata, ...set } }
  if (isDeepEqual(next, { ...live, metadata: before })) return { keep: true }
  if (deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) return { remove: true }
  return { put: stored(definition, next) }
}

function stored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = definition.conversion?.toStored(object) ?? object
  return { kind, apiVersion, metadata: orderMetadata({ ...metadata, resourceVersion: '' }), ...rest } as KubeObject
}
