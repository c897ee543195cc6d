import { type Clock, isAlreadyExists, isConflict, isNotFound, type KubeApi, mergePatch, type Timer } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import { Lease, Node, type NodeCondition, type NodeStatus } from '@tenure/kube/kinds'
import { type Component, rfc3339 } from '@tenure/runtime'
import type { ControlPlaneContext } from '../context.ts'

export interface NodesOptions {
  /** Number of nodes. Default: 1. */
  readonly count?: number
  /** Name of the first node; the others get a numeric suffix. Default: `tenure-node`. */
  readonly name?: string
  /** Milliseconds between two renewals of a node's Lease. Default: 300,000, because no controller here evicts pods from silent nodes. */
  readonly heartbeat?: number
  /** Additional labels of all nodes. Default: none. */
  readonly labels?: Readonly<Record<string, string>>
}

const LEASE_NAMESPACE = 'kube-node-lease'

export function nodeNames({ count = 1, name = 'tenure-node' }: NodesOptions): readonly string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`))
}

/** Registers the simulated nodes and renews their leases. */
export function nodes(context: ControlPlaneContext, options: NodesOptions = {}): Component {
  const { clock, kubelet: api, log } = context
  const heartbeat = options.heartbeat ?? 300_000
  const abort = new AbortController()
  let timer: Timer | undefined
  const beat = async (): Promise<void> => {
    for (const name of nodeNames(options)) {
      try {
        await renew(api, name, heartbeat, clock, abort.signal)
      } catch (error) {
        if (abort.signal.aborted) return
        log.warn('renewing node lease failed', { node: name, error })
      }
    }
    if (!abort.signal.aborted) timer = clock.setTimer(heartbeat, () => void beat())
  }
  return {
    name: 'nodes',
    start: async (signal) => {
      for (const [index, name] of nodeNames(options).entries()) await register(api, name, index, options, clock, signal)
      await beat()
    },
    stop: () => {
      timer?.cancel()
      abort.abort(new Error('The nodes are stopping'))
      return Promise.resolve()
    },
  }
}

async function register(
  api: KubeApi,
  name: string,
  index: number,
  options: NodesOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const labels = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    ...options.labels,
  }
  await api.create<Node>(Node, { metadata: { name, labels }, spec: {} }, { signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
  const node = await api.get(Node, { name }, { signal })
  const status = statusOf(node, name, index, clock.now())
  if (!isDeepEqual(status, node.status))
    await api.update<Node>(Node, { ...node, status }, { subresource: 'status', signal })
  // The API server taints new nodes as not ready.
  const taints = node.spec?.taints?.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
  if (taints && taints.length !== node.spec?.taints?.length) {
    await api.patch(Node, { name }, mergePatch({ spec: { taints } }), { signal })
  }
}

function statusOf(node: Node, name: string, index: number, now: number): NodeStatus {
  const resources = { cpu: '64', 'ephemeral-storage': '1Ti', memory: '256Gi', pods: '10k' }
  const time = rfc3339(now)
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const before = node.status?.conditions?.find((each) => each.type === type)
    if (before?.status === status && before.reason === reason) return before
    return { type, status, lastHeartbeatTime: time, lastTransitionTime: time, reason, message }
  }
  return {
    ...node.status,
    addresses: [
      { type: 'InternalIP', address: `172.18.0.${index + 2}` },
      { type: 'Hostname', address: name },
    ],
    capacity: resources,
    allocatable: resources,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: 'simulated://1',
      kernelVersion: 'simulated',
      kubeProxyVersion: 'v1.36.3',
      kubeletVersion: 'v1.36.3',
      machineID: '',
      operatingSystem: 'linux',
      osImage: 'Tenure simulated node',
      systemUUID: '',
    },
  }
}

async function renew(api: KubeApi, name: string, heartbeat: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
  try {
    await api.patch(Lease, { name, namespace: LEASE_NAMESPACE }, mergePatch({ spec: { renewTime } }), { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const node = await api.get(Node, { name }, { signal })
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid }
    const leaseDurationSeconds = Math.ceil((heartbeat * 4) / 3000)
    await api
      .create<Lease>(
        Lease,
        {
          metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [owner] },
          spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
        },
        { signal },
      )
      .catch((failure: unknown) => {
        if (!isAlreadyExists(failure) && !isConflict(failure)) throw failure
      })
  }
}
