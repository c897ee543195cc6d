import type { KubeObject } from '@tenure/kube'
import { apiVersionOf } from '../../registry/decode.ts'
import { valueAt, withValueAt } from '../../registry/json.ts'
import type { ResourceDefinition, ScalePaths } from '../../registry/types.ts'

/** Which kind a request for a resource or subresource carries. */
export interface ReviewedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const SCALE: ReviewedKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

export function kindFor({ group, version, kind, subresources }: ResourceDefinition, subresource: string): ReviewedKind {
  if (subresource === 'scale') return SCALE
  const listed = subresource === '' ? undefined : subresources?.find(({ name }) => name === subresource)
  return listed ? { group: listed.group, version: listed.version, kind: listed.kind } : { group, version, kind }
}

/** True if what is sent to the subresource is no object of the resource, as with evictions and bindings. */
export function hasOwnKind(definition: ResourceDefinition, subresource: string): boolean {
  if (subresource === '') return false
  const { group, kind } = kindFor(definition, subresource)
  return kind !== definition.kind || group !== definition.group
}

/** An object of one served version as another of the same resource. */
export function converted(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  const apiVersion = apiVersionOf(to)
  if (object.apiVersion === apiVersion) return object
  // What comes from storage may be of neither version: then it is the stored one.
  const stored = object.apiVersion === apiVersionOf(from) ? (from.conversion?.toStored(object) ?? object) : object
  return { ...(to.conversion?.fromStored(stored) ?? stored), kind: to.kind, apiVersion }
}

/** The object with the replicas of a Scale that a webhook changed. */
export function withScale(object: KubeObject, paths: ScalePaths, scale: KubeObject): KubeObject {
  return withValueAt(object, paths.specReplicas, valueAt(scale, 'spec.replicas') ?? 0)
}
