import { isAlreadyExists, type Kind, type KubeObject } from '@tenure/kube'
import { Namespace, PriorityClass, StorageClass } from '@tenure/kube/kinds'
import type { Component } from '@tenure/runtime'
import type { ControlPlaneContext } from '../context.ts'

/** The provisioner of the default StorageClass: its volumes have no storage. */
export const PROVISIONER = 'tenure.dev/simulated'

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Creates the objects that every new cluster has. Existing objects stay unchanged. */
export function bootstrap({ controllers: api }: ControlPlaneContext): Component {
  const ensure = async <T extends KubeObject>(kind: Kind<T>, object: T, signal: AbortSignal): Promise<void> => {
    await api.create(kind, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
  return {
    name: 'bootstrap',
    start: async (signal) => {
      for (const name of NAMESPACES) await ensure<Namespace>(Namespace, { metadata: { name } }, signal)
      await ensure<StorageClass>(StorageClass, storageClass, signal)
      for (const object of priorityClasses) await ensure<PriorityClass>(PriorityClass, object, signal)
    },
    stop: () => Promise.resolve(),
  }
}

const storageClass: StorageClass = {
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
}

const priorityClasses: readonly PriorityClass[] = [
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
]
