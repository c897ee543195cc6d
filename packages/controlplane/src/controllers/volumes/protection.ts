import { keyOf, type Kind, type KubeObject, mergePatch, type Stored } from '@tenure/kube'
import { PersistentVolume, PersistentVolumeClaim, Pod } from '@tenure/kube/kinds'
import { type Component, QueueWorker } from '@tenure/runtime'
import { isFinished } from '../common/pods.ts'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'

const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection'
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection'

/** Index of pods by claim. */
const PODS_BY_CLAIM = 'claim'

function podsByClaim(pod: Stored<Pod>): readonly string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [keyOf({ name: persistentVolumeClaim.claimName, namespace: pod.metadata.namespace })] : [],
  )
}

/** Delays the deletion of claims that pods use and of bound volumes with a finalizer. */
export function volumeProtection(context: ControlPlaneContext): Component {
  const { clock, controllers: api, informers, log, metrics } = context
  const claims = informers.informer(PersistentVolumeClaim)
  const volumes = informers.informer(PersistentVolume)
  const pods = informers.informer(Pod)
  pods.addIndex(PODS_BY_CLAIM, podsByClaim)
  const worker = new QueueWorker({
    name: 'volume-protection',
    clock,
    log,
    metrics,
    work: async (key, { signal }) => {
      const [type = '', name = ''] = key.split(' ')
      if (type === 'claim') {
        const claim = claims.cache.getByKey(name)
        const isUsed = pods.cache.byIndex(PODS_BY_CLAIM, name).some((pod) => !isFinished(pod) && pod.spec?.nodeName)
        if (claim) await protect(PersistentVolumeClaim, claim, CLAIM_PROTECTION, isUsed, signal)
        return
      }
      const volume = volumes.cache.getByKey(name)
      if (volume) await protect(PersistentVolume, volume, VOLUME_PROTECTION, volume.status?.phase === 'Bound', signal)
    },
  })
  return informerWorker({
    worker,
    informers: [claims, volumes, pods],
    subscribe: () => [
      claims.subscribe(({ object, type }) => {
        if (type !== 'deleted' && needsWork(object, CLAIM_PROTECTION)) worker.add(`claim ${keyOf(object.metadata)}`)
        if (type === 'deleted' && object.spec?.volumeName) worker.add(`volume ${object.spec.volumeName}`)
      }),
      volumes.subscribe(({ object, type }) => {
        if (type !== 'deleted' && needsWork(object, VOLUME_PROTECTION)) worker.add(`volume ${object.metadata.name}`)
      }),
      pods.subscribe(({ object, type }) => {
        if (type === 'deleted' || isFinished(object)) for (const key of podsByClaim(object)) worker.add(`claim ${key}`)
      }),
    ],
  })

  /** Adds the finalizer, and removes it from a deleted object that is no longer in use. */
  async function protect<T extends KubeObject>(
    kind: Kind<T>,
    object: Stored<T>,
    finalizer: string,
    isUsed: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { deletionTimestamp, finalizers = [], resourceVersion } = object.metadata
    const others = finalizers.filter((name) => name !== finalizer)
    const isProtected = others.length < finalizers.length
    if (deletionTimestamp ? !isProtected || isUsed : isProtected) return
    const wanted = deletionTimestamp ? others : [...others, finalizer]
    const patch = mergePatch({ metadata: { resourceVersion, finalizers: wanted.length > 0 ? wanted : null } })
    await api.patch(kind, object.metadata, patch, { signal })
  }
}

function needsWork({ metadata }: Stored<KubeObject>, finalizer: string): boolean {
  return Boolean(metadata.deletionTimestamp) === (metadata.finalizers?.includes(finalizer) ?? false)
}
