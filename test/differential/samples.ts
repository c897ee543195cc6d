/** Kinds of which many variations are sent. */
import type { Case, Json, JsonObject } from './case.ts'
import { create, named } from './steps.ts'

/** A kind, and what it must at least have. */
export interface Sample {
  readonly path: string
  readonly base: JsonObject
}

/** With a spec, and called `a` unless it says otherwise. */
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

/** A sample with some of its fields changed. */
export function merged(base: Json | undefined, change: Json): Json {
  if (!isObject(change)) return change
  const own = isObject(base) ? base : {}
  return { ...own, ...Object.fromEntries(Object.entries(change).map(([key, value]) => [key, merged(own[key], value)])) }
}

/** One case of a kind: each of these specs makes it wrong. */
export const refused = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `refuse ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { status: 422 })),
})

/** The same of what is right, which is defaulted. */
export const taken = ({ path, base }: Sample, name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `take ${name}`,
  steps: specs.map((spec) => create(`${path}?dryRun=All`, merged(base, { spec }), { pick: ['spec'] })),
})
