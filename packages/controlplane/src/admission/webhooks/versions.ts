import { valueAtPath } from '@tenure/kube/model'
import { withValueAt } from '../../registry/dotted-path.ts'
import type { KubeObject } from '@tenure/kube'
import { apiVersionOf } from '../../registry/decode/decode.ts'
import type { ResourceDefinition, ScalePaths } from '../../registry/types.ts'

/** The kind of the body of a request. */
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

/** True if the body sent to the subresource has its own kind, for example Eviction or Binding. */
export function hasOwnKind(definition: ResourceDefinition, subresource: string): boolean {
  if (subresource === '') return false
  const { group, kind } = kindFor(definition, subresource)
  return kind !== definition.kind || group !== definition.group
}

/** Converts an object between two served versions of a resource. */
export function converted(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  const apiVersion = apiVersionOf(to)
  if (object.apiVersion === apiVersion) return object
  // An object of neither version comes from storage and has the stored version.
  const stored = object.apiVersion === apiVersionOf(from) ? (from.conversion?.toStored(object) ?? object) : object
  return { ...(to.conversion?.fromStored(stored) ?? stored), kind: to.kind, apiVersion }
}

/** Writes the replicas of a Scale to the object. */
export function withScale(object: KubeObject, paths: ScalePaths, scale: KubeObject): KubeObject {
  return withValueAt(object, paths.specReplicas, valueAtPath(scale, 'spec', 'replicas') ?? 0)
}
