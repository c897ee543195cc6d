/** Has an API server check the objects of the chart, without storing them. */
import type { Client, KubeObject } from '@tenure/kube'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { Discovery } from '@tenure/runtime'

const STRICT = { fieldValidation: 'Strict', dryRun: true } as const

/** Creates each object in a dry run; the namespaces that they name must exist. */
export async function dryRun(api: Client, discovery: Discovery, objects: readonly KubeObject[]): Promise<void> {
  const created = objects.map(async (object) => {
    const [version = '', group = ''] = (object.apiVersion ?? '').split('/').toReversed()
    const kind = await discovery.kind({ group, version, kind: object.kind ?? '' })
    const namespace = kind.namespaced ? { namespace: object.metadata?.namespace ?? 'tenure-system' } : {}
    await api.create(kind, { ...object, metadata: { ...object.metadata, ...namespace } }, STRICT)
  })
  await Promise.all(created)
}

/** Definitions of the kinds of the Prometheus operator, without their schemas. */
export const monitoringDefinitions: readonly CustomResourceDefinition[] = [
  'ServiceMonitor',
  'PodMonitor',
  'PrometheusRule',
].map((kind) => {
  const plural = `${kind.toLowerCase()}s`
  const group = 'monitoring.coreos.com'
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
})
