import type { Deployment } from '@tenure/kube/kinds'

/** Returns a Deployment whose pods the simulated nodes make ready. */
export function deployment(namespace: string, name: string, replicas: number): Deployment {
  const labels = { app: name }
  return {
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web' }] } },
    },
  }
}
