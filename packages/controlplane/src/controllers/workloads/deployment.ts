import { asError, isAlreadyExists, isNotFound, mergePatch, type ObjectRef, type Stored } from '@tenure/kube'
import { Deployment, type DeploymentStatus, Pod, ReplicaSet, type ReplicaSetSpec } from '@tenure/kube/kinds'
import {
  type Cache,
  controller,
  isNamespaceTerminating,
  OWNER_UID_INDEX,
  type ReconcileContext,
  requeueAt,
  watch,
} from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { claim, matcherOf, toPossibleAdopters } from '../common/claim.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { shortHash } from '../common/hash.ts'
import { controllerOf, controllerReference, ORPHANS, orphanIndex } from '../common/owners.ts'
import { updateStatus } from '../common/status.ts'
import { planDeployment, type DeploymentStep } from './deployment-plan.ts'
import {
  annotationsFor,
  isRolling,
  isSameTemplate,
  newSetOf,
  replicasAnnotations,
  replicasOf,
  REVISION,
  type Sets,
  TEMPLATE_HASH,
} from './deployment-sets.ts'
import { deploymentStatus, progressDeadline } from './deployment-status.ts'

type Context = ReconcileContext<Deployment>

/** Rolls out Deployments: one ReplicaSet per template, scaled step by step. */
export const deployments = builtIn('deployment', (context) => {
  const events = context.recorderFor('deployment-controller')
  const sets = context.informers.informer(ReplicaSet)
  const pods = context.informers.informer(Pod)
  /** Maps a pod to its Deployment if the strategy is Recreate, which waits for old pods. */
  const toRecreatingDeployment = (pod: Stored<Pod>, primaries: Cache<Deployment>): readonly ObjectRef[] => {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'ReplicaSet') return []
    const { namespace } = pod.metadata
    const set = sets.cache.get({ name: owner.name, namespace })
    const deploymentRef = set && controllerOf(set)
    if (deploymentRef?.kind !== 'Deployment') return []
    const ref = { name: deploymentRef.name, namespace }
    const deployment = primaries.get(ref)
    return deployment && !isRolling(deployment) ? [ref] : []
  }
  return controller(Deployment, {
    name: 'deployment',
    owns: [ReplicaSet],
    watches: [
      watch(ReplicaSet, toPossibleAdopters, { indexes: { [ORPHANS]: orphanIndex } }),
      watch(Pod, toRecreatingDeployment),
    ],
    concurrency: 8,
    // Not a plan: adopted objects and the outcome of creations decide the status, an Update conditional on resourceVersion.
    reconcile: (context) =>
      reconcile(context, events, (set) =>
        pods.cache
          .byIndex(OWNER_UID_INDEX, set.metadata.uid)
          .filter((pod) => controllerOf(pod)?.uid === set.metadata.uid),
      ),
  })
})

async function reconcile(
  context: Context,
  events: ObjectEvents,
  podsOf: (set: Stored<ReplicaSet>) => readonly Stored<Pod>[],
): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, byIndex, object: deployment, owned, signal } = context
  const selector = matcherOf(deployment.spec?.selector)
  if (!selector) return []
  const sets = await claim({
    api,
    ownerKind: Deployment,
    owner: deployment,
    selector,
    kind: ReplicaSet,
    owned: owned(ReplicaSet),
    orphans: byIndex(ReplicaSet, ORPHANS, deployment.metadata.namespace ?? ''),
    signal,
  })
  const done = await execute(context, planDeployment({ deployment, sets, podsOf }), events)
  const current = done.changed
    ? owned(ReplicaSet).filter((set) => controllerOf(set)?.uid === deployment.metadata.uid)
    : sets
  const status = deploymentStatus({ ...done, deployment, sets: current, now: context.now })
  if (done.collided) {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    await write(context, current, { ...status, collisionCount })
    return []
  }
  await write(context, current, status)
  if (done.error !== undefined) throw asError(done.error)
  const deadline = progressDeadline(deployment, status.conditions)
  return deadline === undefined ? [] : [requeueAt(deadline + 1000)]
}

interface Outcome {
  readonly changed: boolean
  readonly created?: Stored<ReplicaSet>
  readonly collided?: boolean
  readonly failure?: string
  readonly error?: unknown
}

async function execute(context: Context, steps: readonly DeploymentStep[], events: ObjectEvents): Promise<Outcome> {
  const { api, object: deployment, signal } = context
  let created: Outcome = { changed: steps.length > 0 }
  for (const step of steps) {
    switch (step.type) {
      case 'create':
        created = await createSet(context, step, events)
        break
      case 'resize':
        await resizeSet(context, step.set, step.replicas, events)
        break
      case 'sync': {
        const { minReadySeconds } = deployment.spec ?? {}
        await patchSet(context, step.set, {
          annotations: step.annotations,
          spec: minReadySeconds === undefined ? {} : { minReadySeconds },
        })
        break
      }
      case 'remove':
        await api
          .delete(ReplicaSet, step.set.metadata, { preconditions: { uid: step.set.metadata.uid }, signal })
          .catch(ignoreNotFound)
    }
  }
  return created
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}

/**
 * Changes a ReplicaSet. Not an Update with its resourceVersion: its status changes with every pod, and would refuse a
 * change of fields that only this controller decides.
 */
async function patchSet(
  { api, signal }: Context,
  { metadata }: Stored<ReplicaSet>,
  change: { readonly annotations: Readonly<Record<string, string>>; readonly spec: Partial<ReplicaSetSpec> },
): Promise<void> {
  const { annotations, spec } = change
  const patch = mergePatch({ metadata: { uid: metadata.uid, annotations }, spec })
  await api.patch(ReplicaSet, metadata, patch, { signal })
}

async function resizeSet(
  context: Context,
  set: Stored<ReplicaSet>,
  replicas: number,
  events: ObjectEvents,
): Promise<void> {
  const { object: deployment } = context
  if (!set.spec) return
  const before = replicasOf(set)
  const annotations = { ...set.metadata.annotations, ...replicasAnnotations(deployment) }
  await patchSet(context, set, { annotations, spec: { replicas } })
  if (before === replicas) return
  const direction = before < replicas ? 'up' : 'down'
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`
  events.record(deployment, 'Normal', 'ScalingReplicaSet', message)
}

async function createSet(
  context: Context,
  { replicas, revision }: Extract<DeploymentStep, { type: 'create' }>,
  events: ObjectEvents,
): Promise<Outcome> {
  const { api, object: deployment, signal } = context
  const set = newSet(deployment, replicas, revision)
  const { name, namespace } = set.metadata ?? {}
  try {
    const created = await api.create(ReplicaSet, set, { signal })
    if (replicas > 0) {
      events.record(deployment, 'Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${replicas}`)
    }
    return { changed: true, created }
  } catch (error) {
    if (isNamespaceTerminating(error)) return { changed: false }
    if (isAlreadyExists(error) && name) {
      const existing = await api.get(ReplicaSet, { name, namespace }, { signal })
      const isOwnSet =
        controllerOf(existing)?.uid === deployment.metadata.uid &&
        isSameTemplate(deployment.spec?.template, existing.spec?.template)
      return isOwnSet ? { changed: true } : { changed: false, collided: true }
    }
    const failure = `Failed to create new replica set "${name}": ${asError(error).message}`
    events.record(deployment, 'Warning', 'ReplicaSetCreateError', failure)
    return { changed: false, failure, error }
  }
}

function newSet(deployment: Stored<Deployment>, replicas: number, revision: bigint): ReplicaSet {
  const template = deployment.spec?.template
  const hash = shortHash(template, deployment.status?.collisionCount)
  const labels = { ...template?.metadata?.labels, [TEMPLATE_HASH]: hash }
  const { minReadySeconds, selector } = deployment.spec ?? {}
  return {
    metadata: {
      name: `${deployment.metadata.name.slice(0, 252 - hash.length)}-${hash}`,
      ...(deployment.metadata.namespace && { namespace: deployment.metadata.namespace }),
      labels,
      annotations: annotationsFor(deployment, undefined, revision),
      ownerReferences: [controllerReference(Deployment, deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [TEMPLATE_HASH]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  }
}

/**
 * Writes the status together with the revision annotation: a separate write would raise the generation of the
 * Deployment. An API server that ignores annotations in status updates gets a separate patch.
 */
async function write(context: Context, sets: Sets, status: DeploymentStatus): Promise<void> {
  const { api, object: deployment, signal } = context
  const revision = newSetOf(deployment, sets)?.metadata.annotations?.[REVISION]
  if (revision === undefined || deployment.metadata.annotations?.[REVISION] === revision) {
    await updateStatus(api, Deployment, deployment, status, signal)
    return
  }
  const annotations = { ...deployment.metadata.annotations, [REVISION]: revision }
  const revised: Deployment = { ...deployment, metadata: { ...deployment.metadata, annotations }, status }
  const { metadata } = await api.update(Deployment, revised, { subresource: 'status', signal })
  if (metadata.annotations?.[REVISION] === revision) return
  const patch = mergePatch({ metadata: { uid: metadata.uid, annotations: { [REVISION]: revision } } })
  await api.patch(Deployment, metadata, patch, { signal })
}
