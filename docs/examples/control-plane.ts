import { startControlPlane } from '@tenure/controlplane'
import { Client } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'

const labels = { app: 'web' }

/** Resolves with the number of ready replicas, on a Kubernetes API that exists only during this call. */
export async function rollOut(replicas: number): Promise<number> {
  const controlPlane = await startControlPlane({ port: false })
  try {
    const client = new Client({ transport: controlPlane.transport })
    const watching = client.watch(Deployment, { namespace: 'default' })
    await client.create(Deployment, {
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
      },
    })
    for await (const events of watching) {
      for (const event of events) {
        const ready = event.type === 'BOOKMARK' ? 0 : (event.object.status?.readyReplicas ?? 0)
        if (ready === replicas) return ready
      }
    }
    return 0
  } finally {
    await controlPlane.stop()
  }
}
