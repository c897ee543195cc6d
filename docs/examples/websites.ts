import { asError, type Condition, defineKind, type KubeObject } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { apply, call, controller, createLogger, defineOperator, runOperators, setCondition } from '@tenure/runtime'

export interface Website extends KubeObject {
  readonly spec: { readonly image: string; readonly replicas?: number }
  readonly status?: { readonly phase: 'Pending' | 'Running'; readonly conditions: readonly Condition[] }
}
export const Website = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })

const websiteController = controller(Website, {
  owns: [Deployment],
  finalizer: 'example.dev/cleanup',
  plan: ({ object }) => [apply(Deployment, deploymentFor(object))],
  status({ object: { metadata, spec, status }, owned, now }): Website['status'] {
    const isUp = (owned(Deployment, metadata.name)?.status?.readyReplicas ?? 0) >= (spec.replicas ?? 1)
    const ready = { type: 'Ready', status: isUp ? 'True' : 'False', reason: isUp ? 'Available' : 'Starting' } as const
    const condition = { ...ready, message: `Serves ${spec.image}`, observedGeneration: metadata.generation ?? 0 }
    return { phase: isUp ? 'Running' : 'Pending', conditions: setCondition(status?.conditions, condition, now) }
  },
  cleanup: ({ object }) => [call('clean up', ({ log }) => log.info('cleaning up', { website: object.metadata.name }))],
})

function deploymentFor({ metadata, spec }: Website): Deployment {
  const labels = { website: metadata?.name ?? '' }
  return {
    metadata: { name: labels.website, labels },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: spec.image }] } },
    },
  }
}

export const websites = defineOperator({ name: 'websites', setup: () => ({ controllers: [websiteController] }) })

if (import.meta.main) {
  const log = await createLogger({ format: 'text' })
  try {
    await runOperators({ operators: [websites], probes: ':8081', log })
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`${asError(error).message}\n`)
  }
}
