import { isNotFound, keyOf, type Stored } from '@tenure/kube'
import { PersistentVolume, PersistentVolumeClaim } from '@tenure/kube/kinds'
import { type Component, QueueWorker } from '@tenure/runtime'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'
import { setVolumePhase } from './binding.ts'

/** Index of volumes by the claim that they are bound to. */
const VOLUMES_BY_CLAIM = 'claim-reference'

function volumesByClaim({ spec }: Stored<PersistentVolume>): readonly string[] {
  const { name, namespace } = spec?.claimRef ?? {}
  return name === undefined ? [] : [keyOf({ name, namespace })]
}

/**
 * Marks unclaimed volumes as available, and releases or deletes volumes whose claim is gone. A worker of its own, because
 * a controller does not reconcile deleted objects, and a deleted volume is released before its protection ends.
 */
export function volumeRelease({ clock, controllers: api, informers, log, metrics }: ControlPlaneContext): Component {
  const claims = informers.informer(PersistentVolumeClaim)
  const volumes = informers.informer(PersistentVolume)
  volumes.addIndex(VOLUMES_BY_CLAIM, volumesByClaim)
  const worker = new QueueWorker({
    name: 'persistentvolume-release',
    clock,
    log,
    metrics,
    work: async (name, { signal }) => {
      const volume = volumes.cache.get({ name })
      if (!volume) return
      const { claimRef, persistentVolumeReclaimPolicy } = volume.spec ?? {}
      const phase = volume.status?.phase
      if (!claimRef) {
        if (phase !== 'Available') await setVolumePhase(api, volume, 'Available', clock.now(), signal)
        return
      }
      if (!claimRef.uid) return
      const reference = { name: claimRef.name ?? '', namespace: claimRef.namespace }
      if (claims.cache.get(reference)?.metadata.uid === claimRef.uid) return
      // The cache may lag behind a new claim, so a live read decides whether the claim is gone.
      const live = await api.get(PersistentVolumeClaim, reference, { signal }).catch(ignoreNotFound)
      if (live?.metadata.uid === claimRef.uid) return
      if (phase !== 'Released') await setVolumePhase(api, volume, 'Released', clock.now(), signal)
      if (persistentVolumeReclaimPolicy !== 'Delete' || volume.metadata.deletionTimestamp) return
      const preconditions = { uid: volume.metadata.uid }
      await api.delete(PersistentVolume, volume.metadata, { preconditions, signal }).catch(ignoreNotFound)
    },
  })
  return informerWorker({
    worker,
    informers: [claims, volumes],
    subscribe: () => [
      claims.subscribe(({ object, type }) => {
        if (type !== 'deleted') return
        for (const { metadata } of volumes.cache.byIndex(VOLUMES_BY_CLAIM, keyOf(object.metadata))) {
          worker.add(metadata.name)
        }
      }),
      volumes.subscribe(({ object, type }) => {
        if (type !== 'deleted') worker.add(object.metadata.name)
      }),
    ],
  })
}

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
