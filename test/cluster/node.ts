import { TenureError } from '@tenure/kube'

import type { ApiRequest } from './api-request.ts'

/**
 * Creates a node for kwok to simulate. Only its status proves that kwok runs, so it is created first and awaited later.
 */
export async function createNode(ask: ApiRequest, name: string): Promise<void> {
  const answer = await ask('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0' },
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': name,
        type: 'kwok',
      },
    },
  })
  if (answer?.status !== 201) {
    throw new TenureError(
      'TENURE_CLUSTER_NODE',
      `The API server refused the node ${name}: ${answer?.body ?? 'no answer'}`,
    )
  }
}

interface Node {
  readonly spec?: { readonly taints?: readonly { readonly effect?: string }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Returns true if the node is ready and the controller manager has removed the taint of new nodes. */
export async function isSchedulable(ask: ApiRequest, name: string): Promise<boolean> {
  const answer = await ask('GET', `/api/v1/nodes/${name}`)
  if (answer?.status !== 200) return false
  const node = JSON.parse(answer.body) as Node
  const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
  return isReady && (node.spec?.taints ?? []).length === 0
}
