import { asError, isAlreadyExists, isNotFound, type Stored } from '@tenure/kube'
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet, type StatefulSetStatus } from '@tenure/kube/kinds'
import { controller, isNamespaceTerminating, type ReconcileContext, requeueAt, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { claim, matcherOf, patchOwners, toPossibleAdopters } from '../common/claim.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { controllerOf, controllerReference, ORPHANS, orphanIndex } from '../common/owners.ts'
import { isAvailable, isReady, nextAvailable, podFromTemplate } from '../common/pods.ts'
import { count, updateStatus } from '../common/status.ts'
import { currentRevision, type Revision, templateOf, truncateHistory } from './revisions.ts'
import {
  ordinalOf,
  ordinals,
  planStatefulSet,
  REVISION_LABEL,
  type StatefulSetState,
  type StatefulStep,
} from './stateful-set-plan.ts'

type Context = ReconcileContext<StatefulSet>

/** Manages the ordinal pods of StatefulSets and their claims. */
export const statefulSets = builtIn('statefulset', (context) => {
  const events = context.recorderFor('statefulset-controller')
  return controller(StatefulSet, {
    name: 'statefulset',
    owns: [Pod, ControllerRevision],
    watches: [
      watch(Pod, toPossibleAdopters, { indexes: { [ORPHANS]: orphanIndex } }),
      watch(PersistentVolumeClaim, () => []),
    ],
    // Not a plan: adopted objects and the outcome of creations decide the status, an Update conditional on resourceVersion.
    reconcile: (context) => reconcile(context, events),
  })
})

async function reconcile(context: Context, events: ObjectEvents): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, byIndex, object: set, owned, signal } = context
  const selector = matcherOf(set.spec?.selector)
  if (!selector || !set.spec) return []
  const claimed = await claim({
    api,
    ownerKind: StatefulSet,
    owner: set,
    selector,
    kind: Pod,
    owned: owned(Pod),
    orphans: byIndex(Pod, ORPHANS, set.metadata.namespace ?? ''),
    signal,
    adoptable: (pod) => ordinalOf(set, pod) >= 0,
  })
  const revisions = owned(ControllerRevision)
  const update = await currentRevision({
    api,
    ownerKind: StatefulSet,
    owner: set,
    template: set.spec.template,
    revisions,
    hashLabel: 'controller.kubernetes.io/hash',
    annotations: set.metadata.annotations,
    signal,
  })
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
  const state: StatefulSetState = {
    set,
    pods: claimed,
    currentRevision: current.metadata.name,
    updateRevision: update.metadata.name,
    now: context.now,
  }
  await updateClaimOwners(context, claimed)
  let failure: unknown
  try {
    for (const step of planStatefulSet(state)) await execute(context, step, current, update, events)
  } catch (error) {
    failure = error
  }
  const pods = owned(Pod).filter(
    (pod) => controllerOf(pod)?.uid === set.metadata.uid && selector.matches(pod.metadata.labels),
  )
  const status = statusOf({ ...state, pods })
  await updateStatus(api, StatefulSet, set, status, signal)
  if (failure !== undefined && !isNamespaceTerminating(failure)) throw asError(failure)
  const used = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)])
  await truncateHistory(api, revisions, used, set.spec.revisionHistoryLimit ?? 10, signal)
  const next = nextAvailable(pods, set.spec.minReadySeconds ?? 0, context.now)
  return next === undefined ? [] : [requeueAt(next)]
}

function revisionOf(pod: Pod): string {
  return pod.metadata?.labels?.[REVISION_LABEL] ?? ''
}

async function execute(
  context: Context,
  step: StatefulStep,
  current: Revision,
  update: Revision,
  events: ObjectEvents,
): Promise<void> {
  const { api, object: set, signal } = context
  const { name } = set.metadata
  if (step.type === 'delete') {
    const { metadata } = step.pod
    await api.delete(Pod, metadata, { preconditions: { uid: metadata.uid }, signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
    const message = `Delete Pod ${metadata.name} in StatefulSet ${name} successful`
    events.record(set, 'Normal', 'SuccessfulDelete', message)
    return
  }
  const pod = newPod(set, step.ordinal, step.from === 'current' ? current : update)
  const podName = pod.metadata?.name ?? ''
  await createClaims(context, step.ordinal, podName, events)
  try {
    await api.create(Pod, pod, { signal })
    const message = `Create Pod ${podName} in StatefulSet ${name} successful`
    events.record(set, 'Normal', 'SuccessfulCreate', message)
  } catch (error) {
    if (isAlreadyExists(error)) return
    const message = `Create Pod ${podName} in StatefulSet ${name} failed error: ${asError(error).message}`
    if (!isNamespaceTerminating(error)) events.record(set, 'Warning', 'FailedCreate', message)
    throw error
  }
}

function newPod(set: Stored<StatefulSet>, ordinal: number, revision: Revision): Pod {
  const template = templateOf(revision)
  const pod = podFromTemplate({ ownerKind: StatefulSet, owner: set, template })
  const name = `${set.metadata.name}-${ordinal}`
  const templates = set.spec?.volumeClaimTemplates ?? []
  const claimNames = new Set(templates.map(({ metadata }) => metadata?.name))
  const volumes = [
    ...templates.map(({ metadata }) => ({
      name: metadata?.name ?? '',
      persistentVolumeClaim: { claimName: `${metadata?.name}-${name}` },
    })),
    ...(template.spec?.volumes ?? []).filter((volume) => !claimNames.has(volume.name)),
  ]
  const { serviceName } = set.spec ?? {}
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: {
        ...pod.metadata?.labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [REVISION_LABEL]: revision.metadata.name,
        'statefulset.kubernetes.io/pod-name': name,
      },
    },
    spec: {
      containers: [],
      ...pod.spec,
      hostname: name,
      ...(serviceName && { subdomain: serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  }
}

async function createClaims(context: Context, ordinal: number, podName: string, events: ObjectEvents): Promise<void> {
  const { api, object: set, read, signal } = context
  const { name, namespace } = set.metadata
  for (const template of set.spec?.volumeClaimTemplates ?? []) {
    const claimName = `${template.metadata?.name}-${name}-${ordinal}`
    if (read(PersistentVolumeClaim, claimName)) continue
    const wanted: PersistentVolumeClaim = {
      metadata: {
        ...template.metadata,
        name: claimName,
        ...(namespace && { namespace }),
        labels: { ...template.metadata?.labels, ...set.spec?.selector.matchLabels },
        ...(retention(set).whenDeleted === 'Delete' && { ownerReferences: [controllerReference(StatefulSet, set)] }),
      },
      ...(template.spec && { spec: template.spec }),
    }
    try {
      await api.create(PersistentVolumeClaim, wanted, { signal })
      const message = `Create Claim ${claimName} Pod ${podName} in StatefulSet ${name} success`
      events.record(set, 'Normal', 'SuccessfulCreate', message)
    } catch (error) {
      if (isAlreadyExists(error)) continue
      const why = asError(error).message
      const message = `Create Claim ${claimName} for Pod ${podName} in StatefulSet ${name} failed error: ${why}`
      events.record(set, 'Warning', 'FailedCreate', message)
      throw error
    }
  }
}

function retention(set: StatefulSet): { readonly whenDeleted: string; readonly whenScaled: string } {
  return { whenDeleted: 'Retain', whenScaled: 'Retain', ...set.spec?.persistentVolumeClaimRetentionPolicy }
}

/** Sets the owners of claims by persistentVolumeClaimRetentionPolicy: the set, the pod that is scaled down, or none. */
async function updateClaimOwners(context: Context, pods: readonly Stored<Pod>[]): Promise<void> {
  const { api, object: set, read, signal } = context
  const { end, start } = ordinals(set)
  const { whenDeleted, whenScaled } = retention(set)
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod)
    const isCondemned = ordinal < start || ordinal >= end
    const wanted =
      isCondemned && whenScaled === 'Delete'
        ? controllerReference(Pod, pod)
        : !isCondemned && whenDeleted === 'Delete'
          ? controllerReference(StatefulSet, set)
          : isCondemned && whenDeleted === 'Delete'
            ? controllerReference(StatefulSet, set)
            : undefined
    for (const template of set.spec?.volumeClaimTemplates ?? []) {
      const found = read(PersistentVolumeClaim, `${template.metadata?.name}-${pod.metadata.name}`)
      if (!found) continue
      const managedOwners = new Set([set.metadata.uid, pod.metadata.uid])
      const references = found.metadata.ownerReferences ?? []
      const others = references.filter(({ uid }) => !managedOwners.has(uid))
      const isRight = wanted
        ? references.some(({ uid }) => uid === wanted.uid) && references.length === others.length + 1
        : references.length === others.length
      if (!isRight) await patchOwners(api, PersistentVolumeClaim, found, wanted ? [...others, wanted] : others, signal)
    }
  }
}

function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod)
}

function statusOf(state: StatefulSetState): StatefulSetStatus {
  const { currentRevision: current, now, pods, set, updateRevision } = state
  const minReady = set.spec?.minReadySeconds ?? 0
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
  const updated = staying.filter((pod) => revisionOf(pod) === updateRevision).length
  const wanted = set.spec?.replicas ?? 1
  const ready = pods.filter(isRunning).length
  const isRolling = (set.spec?.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
  const isDone = isRolling && updated === wanted && ready === wanted && pods.length === wanted
  const currentName = isDone ? updateRevision : current
  return {
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    replicas: pods.length,
    ...count('readyReplicas', ready),
    availableReplicas: pods.filter((pod) => isRunning(pod) && isAvailable(pod, minReady, now)).length,
    ...count('currentReplicas', staying.filter((pod) => revisionOf(pod) === currentName).length),
    ...count('updatedReplicas', updated),
    currentRevision: currentName,
    updateRevision,
    collisionCount: 0,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  }
}
