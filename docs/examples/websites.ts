import { type Condition, defineKind, type KubeObject } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { apply, call, controller, createLogger, manager, setCondition, status } from '@tenure/runtime'

export interface Website extends KubeObject {
  readonly spec: { readonly image: string; readonly replicas?: number }
  readonly status?: { readonly phase: 'Pending' | 'Running'; readonly conditions: readonly Condition[] }
}
export const Website = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })

export const websites = controller(Website, {
  owns: [Deployment],
  finalizer: 'example.dev/goodbye',
  plan({ object, owned, now }) {
    const { name, generation = 0 } = object.metadata
    const isUp = (owned(Deployment, name)?.status?.readyReplicas ?? 0) >= (object.spec.replicas ?? 1)
    const ready = {
      type: 'Ready',
      reason: isUp ? 'Available' : 'Starting',
      message: `${name} serves ${object.spec.image}`,
    }
    const condition = { ...ready, status: isUp ? 'True' : 'False', observedGeneration: generation } as const
    return [
      apply(Deployment, deploymentFor(object)),
      status({
        phase: isUp ? 'Running' : 'Pending',
        conditions: setCondition(object.status?.conditions, condition, now),
      }),
    ]
  },
  cleanup: ({ object }) => [call('say goodbye', ({ log }) => log.info('goodbye', { website: object.metadata.name }))],
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

if (import.meta.main) {
  const log = await createLogger({ format: 'text' })
  await manager({ name: 'websites', controllers: [websites], leaderElection: 'websites', probes: ':8081', log }).run()
}
