import { isAlreadyExists, mergePatch, type ObjectRef, type Stored } from '@tenure/kube'
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tenure/kube/kinds'
import { controller, type ReconcileContext, rfc3339, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { compareQuantityValues } from '../../kinds/common/quantity.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { updateStatus } from '../common/status.ts'
import { PROVISIONER } from '../namespaces/bootstrap.ts'
import { VOLUME_PROTECTION } from './protection.ts'

const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'

type Context = ReconcileContext<PersistentVolumeClaim>

/** Binds claims to fitting existing volumes or to newly provisioned ones. */
export const claimBinding = builtIn('persistentvolume-binder', (context) => {
  const events = context.recorderFor('persistentvolume-controller')
  return controller(PersistentVolumeClaim, {
    name: 'persistentvolume-binder',
    watches: [
      watch(PersistentVolume, (volume, claims) => {
        const { claimRef } = volume.spec ?? {}
        if (claimRef?.name) return [{ name: claimRef.name, namespace: claimRef.namespace }]
        return unboundClaims(claims.list())
      }),
      watch(StorageClass, (_, claims) => unboundClaims(claims.list())),
    ],
    // Not a plan: each write of a binding needs the object that the previous one returned.
    reconcile: (context) => reconcile(context, events),
  })
})

function unboundClaims(claims: readonly Stored<PersistentVolumeClaim>[]): readonly ObjectRef[] {
  return claims.filter(({ status }) => status?.phase !== 'Bound').map(({ metadata }) => metadata)
}

async function reconcile(context: Context, events: ObjectEvents): Promise<void> {
  const { api, object: claim, signal } = context
  if (claim.status?.phase === 'Bound') {
    const volume = context.read(PersistentVolume, { name: claim.spec?.volumeName ?? '' })
    if (!volume) await updateStatus(api, PersistentVolumeClaim, claim, { ...claim.status, phase: 'Lost' }, signal)
    return
  }
  if (claim.spec?.storageClassName === undefined && !claim.spec?.volumeName) {
    const chosen = defaultClass(context)
    if (chosen !== undefined) {
      const { resourceVersion } = claim.metadata
      const patch = mergePatch({ metadata: { resourceVersion }, spec: { storageClassName: chosen } })
      // The change causes another reconcile.
      await api.patch(PersistentVolumeClaim, claim.metadata, patch, { signal })
      return
    }
  }
  const volume = findVolume(context) ?? (await provision(context, events))
  if (volume) await bind(context, volume)
}

/** The newest of the default classes. */
function defaultClass({ list }: Context): string | undefined {
  return list(StorageClass)
    .filter(({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true')
    .toSorted((a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp))[0]
    ?.metadata.name
}

function findVolume({ list, object: claim, read }: Context): Stored<PersistentVolume> | undefined {
  if (claim.spec?.volumeName) return read(PersistentVolume, { name: claim.spec.volumeName })
  const wanted = claim.spec?.resources?.requests?.['storage'] ?? 0
  const className = claim.spec?.storageClassName ?? ''
  return list(PersistentVolume)
    .filter((volume) => {
      const {
        accessModes = [],
        capacity,
        claimRef,
        storageClassName = '',
        volumeMode = 'Filesystem',
      } = volume.spec ?? {}
      if (volume.metadata.deletionTimestamp) return false
      if (claimRef) return isFor(volume, claim)
      return (
        storageClassName === className &&
        volumeMode === (claim.spec?.volumeMode ?? 'Filesystem') &&
        compareQuantityValues(capacity?.['storage'] ?? 0, wanted) >= 0 &&
        (claim.spec?.accessModes ?? []).every((mode) => accessModes.includes(mode))
      )
    })
    .toSorted(
      (a, b) =>
        Number(isFor(b, claim)) - Number(isFor(a, claim)) ||
        compareQuantityValues(a.spec?.capacity?.['storage'] ?? 0, b.spec?.capacity?.['storage'] ?? 0),
    )[0]
}

function isFor(volume: PersistentVolume, claim: Stored<PersistentVolumeClaim>): boolean {
  const { claimRef } = volume.spec ?? {}
  const { name, namespace, uid } = claim.metadata
  return claimRef?.name === name && claimRef.namespace === namespace && (!claimRef.uid || claimRef.uid === uid)
}

/** Creates a volume if the claim's class has the simulated provisioner. */
async function provision(context: Context, events: ObjectEvents): Promise<Stored<PersistentVolume> | undefined> {
  const { api, object: claim, read, signal } = context
  const className = claim.spec?.storageClassName ?? ''
  const storageClass = className ? read(StorageClass, { name: className }) : undefined
  if (!storageClass) {
    const message = className
      ? `storageclass.storage.k8s.io "${className}" not found`
      : 'no persistent volumes available for this claim and no storage class is set'
    const isWarning = className !== ''
    events.record(claim, isWarning ? 'Warning' : 'Normal', isWarning ? 'ProvisioningFailed' : 'FailedBinding', message)
    return undefined
  }
  if (storageClass.provisioner !== PROVISIONER) {
    const message = `Waiting for a volume to be created either by the external provisioner '${storageClass.provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
    events.record(claim, 'Normal', 'ExternalProvisioning', message)
    return undefined
  }
  const name = `pvc-${claim.metadata.uid}`
  const storage = claim.spec?.resources?.requests?.['storage'] ?? '1Gi'
  const volume: PersistentVolume = {
    metadata: { name, annotations: { [PROVISIONED_BY]: PROVISIONER }, finalizers: [VOLUME_PROTECTION] },
    spec: {
      capacity: { storage },
      ...(claim.spec?.accessModes && { accessModes: claim.spec.accessModes }),
      claimRef: claimReference(claim),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: className,
      volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
      hostPath: { path: `/var/lib/tenure/volumes/${name}`, type: 'DirectoryOrCreate' },
    },
  }
  try {
    const created = await api.create(PersistentVolume, volume, { signal })
    events.record(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`)
    return created
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return api.get(PersistentVolume, { name }, { signal })
  }
}

function claimReference(
  claim: Stored<PersistentVolumeClaim>,
): NonNullable<NonNullable<PersistentVolume['spec']>['claimRef']> {
  const { name, namespace = '', resourceVersion, uid } = claim.metadata
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, resourceVersion, uid }
}

async function bind({ api, now, object: claim, signal }: Context, volume: Stored<PersistentVolume>): Promise<void> {
  let current = volume
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    const annotations = volume.spec?.claimRef ? undefined : { [BOUND_BY_CONTROLLER]: 'yes' }
    const { resourceVersion } = volume.metadata
    const metadata = { resourceVersion, ...(annotations && { annotations }) }
    const patch = mergePatch({ metadata, spec: { claimRef: claimReference(claim) } })
    current = await api.patch(PersistentVolume, volume.metadata, patch, { signal })
  }
  if (current.status?.phase !== 'Bound') await setVolumePhase(api, current, 'Bound', now, signal)
  let bound = claim
  const annotations = claim.metadata.annotations ?? {}
  if (claim.spec?.volumeName !== volume.metadata.name || annotations[BIND_COMPLETED] !== 'yes') {
    const provisioner = volume.metadata.annotations?.[PROVISIONED_BY]
    const bindAnnotations = {
      [BIND_COMPLETED]: 'yes',
      ...(!claim.spec?.volumeName && { [BOUND_BY_CONTROLLER]: 'yes' }),
      ...(provisioner && {
        'volume.beta.kubernetes.io/storage-provisioner': provisioner,
        'volume.kubernetes.io/storage-provisioner': provisioner,
      }),
    }
    const { resourceVersion } = claim.metadata
    const patch = mergePatch({
      metadata: { resourceVersion, annotations: bindAnnotations },
      spec: { volumeName: volume.metadata.name },
    })
    bound = await api.patch(PersistentVolumeClaim, claim.metadata, patch, { signal })
  }
  const { accessModes, capacity } = volume.spec ?? {}
  const status = {
    ...bound.status,
    phase: 'Bound' as const,
    ...(accessModes && { accessModes }),
    ...(capacity && { capacity }),
  }
  await updateStatus(api, PersistentVolumeClaim, bound, status, signal)
}

export async function setVolumePhase(
  api: Context['api'],
  volume: Stored<PersistentVolume>,
  phase: 'Available' | 'Bound' | 'Released',
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const status = { ...volume.status, phase, lastPhaseTransitionTime: rfc3339(now) }
  await updateStatus(api, PersistentVolume, volume, status, signal)
}
