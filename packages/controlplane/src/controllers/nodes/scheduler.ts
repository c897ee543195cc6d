import { isConflict, isNotFound, keyOf, type Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import { Node, PersistentVolumeClaim, Pod, type PodCondition } from '@tenure/kube/kinds'
import { type Component, EventRecorder, QueueWorker, rfc3339, type WorkContext } from '@tenure/runtime'
import { conditionOf, withoutCondition } from '../common/conditions.ts'
import { isFinished } from '../common/pods.ts'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'
import { unschedulableMessage, unschedulableReason } from './placement.ts'

/** Index of pods by node. */
export const PODS_BY_NODE = 'node'
const NAME = 'default-scheduler'

export function podsByNode(pod: Stored<Pod>): readonly string[] {
  return pod.spec?.nodeName ? [pod.spec.nodeName] : []
}

/** Binds pods to the fitting node with the fewest pods. */
export function scheduler(context: ControlPlaneContext): Component {
  const { clock, informers, log, metrics, random, scheduler: api } = context
  const pods = informers.informer(Pod)
  const nodes = informers.informer(Node)
  const claims = informers.informer(PersistentVolumeClaim)
  pods.addIndex(PODS_BY_NODE, podsByNode)
  const recorder = new EventRecorder({ api, clock, random, log, metrics, controller: NAME, instance: NAME })
  /** Unschedulable pods. */
  const unschedulable = new Map<string, Stored<Pod>>()
  /** Bound pods whose event has not arrived yet. */
  const bound = new Set<string>()
  /** Number of such pods per node. */
  const assumed = new Map<string, number>()

  const worker = new QueueWorker({
    name: 'scheduler',
    clock,
    log,
    metrics,
    concurrency: 16,
    work,
  })
  const component = informerWorker({
    worker,
    informers: [pods, nodes, claims],
    subscribe: () => [
      pods.subscribe((event) => {
        const { metadata, spec } = event.object
        if (event.type === 'deleted' || spec?.nodeName) {
          unschedulable.delete(metadata.uid)
          if (bound.delete(metadata.uid) && spec?.nodeName) decrementAssumed(spec.nodeName)
        } else if (isPending(event.object)) worker.add(keyOf(metadata))
      }),
      nodes.subscribe((event) => {
        if (event.type === 'modified' && !affectsScheduling(event.old, event.object)) return
        for (const pod of unschedulable.values()) worker.add(keyOf(pod.metadata))
      }),
      claims.subscribe((event) => {
        if (event.type === 'deleted') return
        for (const { metadata } of unschedulable.values()) {
          if (metadata.namespace === event.object.metadata.namespace) worker.add(keyOf(metadata))
        }
      }),
    ],
  })
  return {
    ...component,
    stop: async (grace) => {
      await component.stop(grace)
      await recorder.close(Math.min(grace, 1_000))
    },
  }

  async function work(key: string, { signal }: WorkContext): Promise<void> {
    const pod = pods.cache.getByKey(key)
    if (!pod || !isPending(pod) || bound.has(pod.metadata.uid)) return
    const missing = missingClaim(pod)
    if (missing !== undefined) {
      await markUnschedulable(pod, missing, signal)
      return
    }
    const all = nodes.cache.list()
    const reasons: string[] = []
    let best: { readonly name: string; readonly load: number } | undefined
    for (const node of all) {
      const reason = unschedulableReason(pod, node)
      if (reason !== undefined) {
        reasons.push(reason)
        continue
      }
      const { name } = node.metadata
      const load = pods.cache.byIndex(PODS_BY_NODE, name).length + (assumed.get(name) ?? 0)
      if (!best || load < best.load || (load === best.load && name < best.name)) best = { name, load }
    }
    return best
      ? await bind(pod, best.name, signal)
      : await markUnschedulable(pod, unschedulableMessage(reasons), signal)
  }

  async function bind(pod: Stored<Pod>, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata
    bound.add(uid)
    assumed.set(node, (assumed.get(node) ?? 0) + 1)
    try {
      await api.requester.json({
        verb: 'create',
        idempotent: false,
        method: 'POST',
        path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/binding?fieldManager=${api.fieldManager}`,
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name, namespace, uid },
          target: { apiVersion: 'v1', kind: 'Node', name: node },
        }),
        signal,
      })
    } catch (error) {
      bound.delete(uid)
      decrementAssumed(node)
      // The pod was deleted or bound by another client.
      if (isNotFound(error) || isConflict(error)) return
      throw error
    }
    unschedulable.delete(uid)
    recorder.record(pod, {
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      message: `Successfully assigned ${namespace}/${name} to ${node}`,
    })
  }

  function decrementAssumed(node: string): void {
    const left = (assumed.get(node) ?? 0) - 1
    if (left > 0) assumed.set(node, left)
    else assumed.delete(node)
  }

  async function markUnschedulable(pod: Stored<Pod>, message: string, signal: AbortSignal): Promise<void> {
    unschedulable.set(pod.metadata.uid, pod)
    const before = conditionOf(pod.status?.conditions, 'PodScheduled')
    if (before?.status === 'False' && before.message === message) return
    recorder.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message })
    const { generation } = pod.metadata
    const condition: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? '') : rfc3339(clock.now()),
    }
    const conditions = [...withoutCondition(pod.status?.conditions, 'PodScheduled'), condition]
    await api.update<Pod>(Pod, { ...pod, status: { ...pod.status, conditions } }, { subresource: 'status', signal })
  }

  /** The message for a claim of the pod that is missing or unbound. */
  function missingClaim(pod: Stored<Pod>): string | undefined {
    const total = nodes.cache.size
    for (const volume of pod.spec?.volumes ?? []) {
      const name = volume.persistentVolumeClaim?.claimName
      if (name === undefined) continue
      const claim = claims.cache.get({ name, namespace: pod.metadata.namespace })
      if (!claim) return `0/${total} nodes are available: persistentvolumeclaim "${name}" not found. not found`
      if (claim.status?.phase !== 'Bound') {
        return `0/${total} nodes are available: pod has unbound immediate PersistentVolumeClaims. not found`
      }
    }
    return undefined
  }
}

function isPending(pod: Stored<Pod>): boolean {
  const { nodeName, schedulerName = NAME, schedulingGates = [] } = pod.spec ?? {}
  const isFree = !nodeName && schedulerName === NAME && schedulingGates.length === 0
  return isFree && !pod.metadata.deletionTimestamp && !isFinished(pod)
}

/** False for heartbeats. */
function affectsScheduling(old: Stored<Node>, node: Stored<Node>): boolean {
  return !isDeepEqual(old.spec, node.spec) || !isDeepEqual(old.metadata.labels, node.metadata.labels)
}
