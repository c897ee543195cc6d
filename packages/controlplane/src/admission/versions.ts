import type { KubeObject } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'
import { apiVersionOf } from '../registry/decode.ts'
import { isObject, valueAt, withValueAt } from '../registry/json.ts'
import type { ResourceDefinition, ScalePaths } from '../registry/types.ts'

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

/** An object of one served version as another of the same resource. */
export function converted(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  const apiVersion = apiVersionOf(to)
  if (object.apiVersion === apiVersion) return object
  // What comes from storage may be of neither version: then it is the stored one.
  const stored = object.apiVersion === apiVersionOf(from) ? (from.conversion?.toStored(object) ?? object) : object
  return { ...(to.conversion?.fromStored(stored) ?? stored), kind: to.kind, apiVersion }
}

/** What webhooks for `scale` are shown of an object that has replicas. */
export function scaleView(object: KubeObject, paths: ScalePaths, isBuiltIn: boolean): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {}
  const replicas = valueAt(object, paths.specReplicas)
  const current = valueAt(object, paths.statusReplicas)
  // All built-in kinds have it in the same place.
  const selectorPath = paths.labelSelector ?? (isBuiltIn ? 'spec.selector' : undefined)
  const selector = selectorPath === undefined ? undefined : valueAt(object, selectorPath)
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp } as KubeObject['metadata']
  return {
    kind: SCALE.kind,
    apiVersion: `${SCALE.group}/${SCALE.version}`,
    ...(metadata && { metadata }),
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: typeof current === 'number' ? current : 0,
      ...(selector !== undefined && { selector: selectorText(selector) }),
    },
  } as KubeObject
}

function selectorText(selector: unknown): string {
  if (!isObject(selector)) return typeof selector === 'string' ? selector : ''
  // ReplicationControllers have plain labels there.
  const isPlain = !('matchLabels' in selector) && !('matchExpressions' in selector)
  return LabelMatcher.from(isPlain ? { matchLabels: selector as Record<string, string> } : selector).toString()
}

/** The object with the replicas of a Scale that a webhook changed. */
export function withScale(object: KubeObject, paths: ScalePaths, scale: KubeObject): KubeObject {
  return withValueAt(object, paths.specReplicas, valueAt(scale, 'spec.replicas') ?? 0)
}
