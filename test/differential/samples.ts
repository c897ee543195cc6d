/** Kinds that are sent in many variations. */
import type { Case, Json, JsonObject } from './case.ts'
import { create, named } from './steps.ts'

/** A kind with a minimal valid object. */
export interface Sample {
  readonly path: string
  readonly base: JsonObject
}

/** A sample with a spec, named `a` unless the base has another name. */
export const sample = (path: string, apiVersion: string, kind: string, spec: JsonObject, name = 'a'): Sample => ({
  path,
  base: { apiVersion, kind, metadata: { name }, spec },
})

export const networkPolicy = sample(
  named('networking.k8s.io/v1', 'networkpolicies'),
  'networking.k8s.io/v1',
  'NetworkPolicy',
  { podSelector: {} },
)
export const scaler = sample(
  named('autoscaling/v2', 'horizontalpodautoscalers'),
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
)
export const priority: Sample = {
  path: '/apis/scheduling.k8s.io/v1/priorityclasses',
  base: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'priority-{ns}' }, value: 5 },
}
export const storageClass: Sample = {
  path: '/apis/storage.k8s.io/v1/storageclasses',
  base: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'storage-{ns}' },
    provisioner: 'example.com/a',
  },
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a sample with some of its fields changed. */
export function merged(base: Json | undefined, change: Json): Json {
  if (!isObject(change)) return change
  const own = isObject(base) ? base : {}
  return { ...own, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(own[key], value)])) }
}

/** A case with specs that are each rejected. */
export const refused = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `refuse ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { status: 422 })),
})

/** A case with specs that are each accepted and defaulted. */
export const taken = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `take ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { pick: ['spec'] })),
})
