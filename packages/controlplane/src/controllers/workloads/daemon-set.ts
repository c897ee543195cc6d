import { asError, isNotFound, type Stored } from '@tenure/kube'
import {
  ControllerRevision,
  DaemonSet,
  type DaemonSetStatus,
  Node,
  Pod,
  type PodSpec,
  type Toleration,
} from '@tenure/kube/kinds'
import { controller, isNamespaceTerminating, type ReconcileContext, requeueAt, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { scaledIntOrPercent } from '../common/int-or-percent.ts'
import { claim, matcherOf, toPossibleAdopters } from '../common/claim.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { controllerOf, ORPHANS, orphanIndex } from '../common/owners.ts'
import { isAvailable, isFinished, isReady, nextAvailable, podFromTemplate } from '../common/pods.ts'
import { count, updateStatus } from '../common/status.ts'
import { unschedulableReason } from '../nodes/placement.ts'
import { currentRevision, truncateHistory } from './revisions.ts'

const HASH = 'controller-revision-hash'
const GENERATION = 'pod-template-generation'
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation'

type Context = ReconcileContext<DaemonSet>

/** Runs one pod of a DaemonSet on every fitting node. */
export const daemonSets = builtIn('daemonset', (context) => {
  const events = context.recorderFor('daemonset-controller')
  return controller(DaemonSet, {
    name: 'daemonset',
    owns: [Pod, ControllerRevision],
    watches: [
      watch(Pod, toPossibleAdopters, { indexes: { [ORPHANS]: orphanIndex } }),
      watch(Node, (_, sets) => sets.list().map(({ metadata }) => metadata)),
    ],
    // Not a plan: adopted objects and the outcome of creations decide the status, an Update conditional on resourceVersion.
    reconcile: (context) => reconcile(context, events),
  })
})

/** The node that a pod is bound to or required to run on. */
function targetNode(pod: Pod): string | undefined {
  if (pod.spec?.nodeName) return pod.spec.nodeName
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0]
}

async function reconcile(context: Context, events: ObjectEvents): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, byIndex, list, object: set, owned, signal } = context
  const selector = matcherOf(set.spec?.selector)
  if (!selector || !set.spec) return []
  const claimed = await claim({
    api,
    ownerKind: DaemonSet,
    owner: set,
    selector,
    kind: Pod,
    owned: owned(Pod),
    orphans: byIndex(Pod, ORPHANS, set.metadata.namespace ?? ''),
    signal,
  })
  const revisions = owned(ControllerRevision)
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION]
  const revision = await currentRevision({
    api,
    ownerKind: DaemonSet,
    owner: set,
    template: set.spec.template,
    revisions,
    hashLabel: HASH,
    annotations: set.metadata.annotations,
    signal,
  })
  const hash = revision.metadata.labels?.[HASH] ?? ''
  const nodes = list(Node)
  const wanted = new Set(nodes.filter((node) => isFor(set, node)).map(({ metadata }) => metadata.name))
  const failure = await manage(context, { claimed, hash, generation, wanted }, events)
  const pods = owned(Pod).filter((pod) => controllerOf(pod)?.uid === set.metadata.uid)
  await updateStatus(api, DaemonSet, set, statusOf(context, pods, wanted, hash), signal)
  if (failure !== undefined) throw asError(failure)
  const used = new Set([
    revision.metadata.name,
    ...pods.map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[HASH]}`),
  ])
  await truncateHistory(api, revisions, used, set.spec.revisionHistoryLimit ?? 10, signal)
  const next = nextAvailable(pods, set.spec.minReadySeconds ?? 0, context.now)
  return next === undefined ? [] : [requeueAt(next)]
}

function isFor(set: DaemonSet, node: Node): boolean {
  const spec = specFor(set.spec?.template.spec, node.metadata?.name ?? '')
  return (
    unschedulableReason(
      { spec: { ...spec, ...(set.spec?.template.spec?.affinity && { affinity: set.spec.template.spec.affinity }) } },
      node,
    ) === undefined
  )
}

interface Managed {
  readonly claimed: readonly Stored<Pod>[]
  readonly hash: string
  readonly generation: string | undefined
  readonly wanted: ReadonlySet<string>
}

async function manage(
  context: Context,
  { claimed, generation, hash, wanted }: Managed,
  events: ObjectEvents,
): Promise<unknown> {
  const { api, object: set, signal } = context
  const byNode = Map.groupBy(claimed, (pod) => targetNode(pod) ?? '')
  const remove = new Set<Stored<Pod>>()
  const missing: string[] = []
  for (const [node, pods] of byNode) {
    const [keep, ...others] = pods
      .filter((pod) => !isFinished(pod))
      .toSorted(
        (a, b) =>
          Number(isReady(b)) - Number(isReady(a)) ||
          Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp),
      )
    for (const pod of pods) if (isFinished(pod)) remove.add(pod)
    for (const pod of others) remove.add(pod)
    if (keep && !wanted.has(node)) remove.add(keep)
  }
  for (const node of wanted) if (!byNode.get(node)?.length) missing.push(node)
  for (const pod of toUpdate(context, claimed, hash, wanted.size)) remove.add(pod)
  for (const pod of remove) {
    const { deletionTimestamp, name, uid } = pod.metadata
    if (deletionTimestamp) continue
    if (isFinished(pod) && pod.status?.phase === 'Failed') {
      events.record(
        set,
        'Warning',
        'FailedDaemonPod',
        `Found failed daemon pod ${set.metadata.namespace}/${name} on node ${targetNode(pod)}, will try to kill it`,
      )
    }
    await api.delete(Pod, pod.metadata, { preconditions: { uid }, signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
    events.record(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`)
  }
  for (const node of missing) {
    const pod = newPod(set, node, hash, generation)
    try {
      const { metadata } = await api.create(Pod, pod, { signal })
      events.record(set, 'Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`)
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined
      events.record(set, 'Warning', 'FailedCreate', `Error creating: ${asError(error).message}`)
      return error
    }
  }
  return undefined
}

/** Pods of an older template that may be deleted now. */
function toUpdate(
  { now, object: set }: Context,
  pods: readonly Stored<Pod>[],
  hash: string,
  total: number,
): readonly Stored<Pod>[] {
  const strategy = set.spec?.updateStrategy
  if ((strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return []
  const maxUnavailable = Math.max(scaledIntOrPercent(strategy?.rollingUpdate?.maxUnavailable ?? 1, total, 'up'), 1)
  const isUp = (pod: Stored<Pod>): boolean =>
    !pod.metadata.deletionTimestamp && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)
  const old = pods.filter(({ metadata }) => metadata.labels?.[HASH] !== hash && !metadata.deletionTimestamp)
  let budget = maxUnavailable - (total - pods.filter(isUp).length)
  return old.filter((pod) => !isUp(pod) || budget-- > 0)
}

function newPod(set: Stored<DaemonSet>, node: string, hash: string, generation: string | undefined): Pod {
  const pod = podFromTemplate({ ownerKind: DaemonSet, owner: set, template: set.spec?.template })
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata?.labels, [HASH]: hash, ...(generation && { [GENERATION]: generation }) },
    },
    spec: specFor(set.spec?.template.spec, node),
  }
}

const TOLERATED: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
]

/** The pod spec with a node affinity and tolerations for node problems. */
function specFor(spec: PodSpec | undefined, node: string): PodSpec {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [node] }] }]
  const network: Toleration[] = spec?.hostNetwork
    ? [{ key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' }]
    : []
  const given = spec?.tolerations ?? []
  const isGiven = (each: Toleration): boolean =>
    given.some(({ effect, key }) => key === each.key && effect === each.effect)
  return {
    containers: [],
    ...spec,
    affinity: {
      ...spec?.affinity,
      nodeAffinity: {
        ...spec?.affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
      },
    },
    tolerations: [...given, ...[...TOLERATED, ...network].filter((each) => !isGiven(each))],
  }
}

function statusOf(
  { now, object: set }: Context,
  pods: readonly Stored<Pod>[],
  wanted: ReadonlySet<string>,
  hash: string,
): DaemonSetStatus {
  const byNode = Map.groupBy(pods, (pod) => targetNode(pod) ?? '')
  const minReady = set.spec?.minReadySeconds ?? 0
  const on = (node: string): readonly Stored<Pod>[] => byNode.get(node) ?? []
  const nodesWith = (test: (pod: Stored<Pod>) => boolean): number =>
    [...wanted].filter((node) => on(node).some(test)).length
  const available = nodesWith((pod) => isReady(pod) && isAvailable(pod, minReady, now))
  return {
    currentNumberScheduled: nodesWith(() => true),
    numberMisscheduled: [...byNode].filter(([node]) => node && !wanted.has(node)).length,
    desiredNumberScheduled: wanted.size,
    numberReady: nodesWith(isReady),
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    ...count(
      'updatedNumberScheduled',
      nodesWith(({ metadata }) => metadata.labels?.[HASH] === hash),
    ),
    ...count('numberAvailable', available),
    ...count('numberUnavailable', wanted.size - available),
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  }
}
