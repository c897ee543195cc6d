import { setTimeout as delay } from 'node:timers/promises'
import { isAlreadyExists } from '@tenure/kube'
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tenure/kube/kinds'
import type { Floor } from '../../floors/index.ts'

type Cluster = Pick<Floor, 'api'>

/** The class of the claims on a cluster, whose nodes are simulated and provide no volumes. */
export const TEST_CLASS = 'tenure-databases'

const PROVIDE_INTERVAL_MS = 100

/** A growing class, for which the test itself makes the volumes. */
export async function createStorageClass({ api }: Cluster): Promise<void> {
  try {
    await api.create(StorageClass, {
      metadata: { name: TEST_CLASS },
      provisioner: 'kubernetes.io/no-provisioner',
      allowVolumeExpansion: true,
      volumeBindingMode: 'Immediate',
    })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/** Provides volumes in the background, as a provisioner does, until the returned function is called. */
export function startProvisioner(floor: Cluster, prefix: string): () => Promise<void> {
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await provideVolumes(floor, prefix)
      await delay(PROVIDE_INTERVAL_MS)
    }
  })()
  running.catch(() => undefined)
  return async () => {
    stopped.abort()
    await running
  }
}

/** Makes a volume for every claim that waits for one, in namespaces with that prefix: each team has one. */
async function provideVolumes({ api }: Cluster, prefix: string): Promise<void> {
  const { items } = await api.list(PersistentVolumeClaim)
  for (const { metadata, spec } of items) {
    const { name, namespace = '', uid } = metadata
    if (spec?.volumeName || !namespace.startsWith(prefix)) continue
    try {
      await api.create(PersistentVolume, {
        metadata: { name: `pv-${uid}` },
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: spec?.resources?.requests?.['storage'] ?? '1Gi' },
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
          hostPath: { path: `/tmp/${uid}` },
          persistentVolumeReclaimPolicy: 'Retain',
          ...(spec?.storageClassName !== undefined && { storageClassName: spec.storageClassName }),
        },
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}

/** Deletes the volumes of namespaces with that prefix. */
export async function removeVolumes({ api }: Cluster, prefix: string): Promise<void> {
  const { items } = await api.list(PersistentVolume)
  for (const { metadata, spec } of items)
    if (spec?.claimRef?.namespace?.startsWith(prefix)) await api.delete(PersistentVolume, { name: metadata.name })
}
