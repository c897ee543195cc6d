import { isConflict, isNotFound, keyOf, type Stored } from '@tenure/kube'
import { Node, Pod } from '@tenure/kube/kinds'
import { type Component, type InformerEvent, QueueWorker } from '@tenure/runtime'
import type { ObjectEvents } from '../common/core-events.ts'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'
import { PodAddresses } from './addresses.ts'
import { nextStep, type PodStep, type PodStage, stageOf } from './pod-lifecycle.ts'
import { podStatus, isSameStatus } from './pod-status.ts'
import { type PodTimes, podScript } from './simulation.ts'

export interface KubeletOptions {
  readonly times: PodTimes
  /** Records the Events of a kubelet. */
  readonly events: boolean
}

interface StageEntry {
  stage: string
  /** Start of the stage in milliseconds on the monotonic clock. */
  since: number
}

/** Milliseconds after which a pod without its node is deleted. */
const ORPHANED_POD_TIMEOUT_MS = 40_000

/** Simulates the kubelets of all nodes: moves pods through their lifecycle without running containers. */
export function kubelets(context: ControlPlaneContext, options: KubeletOptions): Component {
  return new Kubelets(context, options).component()
}

class Kubelets {
  readonly #worker: QueueWorker
  readonly #context: ControlPlaneContext
  readonly #options: KubeletOptions
  readonly #stages = new Map<string, StageEntry>()
  readonly #addresses = new PodAddresses()
  readonly #events = new Map<string, ObjectEvents>()

  constructor(context: ControlPlaneContext, options: KubeletOptions) {
    this.#context = context
    this.#options = options
    const { clock, log, metrics } = context
    this.#worker = new QueueWorker({
      name: 'kubelet',
      clock,
      log,
      metrics,
      concurrency: 16,
      work: async (key, { signal }) => {
        const requeueAfter = await this.#work(key, signal)
        return requeueAfter === undefined ? undefined : { requeueAfter }
      },
    })
  }

  component(): Component {
    const { informers } = this.#context
    const pods = informers.informer(Pod)
    return informerWorker({
      worker: this.#worker,
      informers: [pods, informers.informer(Node)],
      subscribe: () => [pods.subscribe((event) => this.#onEvent(event))],
    })
  }

  #onEvent(event: InformerEvent<Pod>): void {
    const { metadata, status } = event.object
    if (event.type === 'deleted') {
      this.#stages.delete(metadata.uid)
      this.#addresses.release(metadata.uid)
      return
    }
    if (status?.podIP) this.#addresses.note(metadata.uid, status.podIP)
    if (this.#isHandled(event.object)) this.#worker.add(keyOf(metadata))
  }

  /** Handles pods on nodes, and deleted pods that were never scheduled. */
  #isHandled(pod: Stored<Pod>): boolean {
    return pod.spec?.nodeName ? true : Boolean(pod.metadata.deletionTimestamp)
  }

  /** Returns the milliseconds until the next step of the pod. */
  async #work(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { clock, informers } = this.#context
    const pod = informers.informer(Pod).cache.getByKey(key)
    if (!pod) return undefined
    const nodeName = pod.spec?.nodeName
    const node = nodeName === undefined ? undefined : informers.informer(Node).cache.get({ name: nodeName })
    if (!node && !pod.metadata.deletionTimestamp && nodeName === undefined) return undefined
    if (!node && nodeName !== undefined) return this.#orphaned(pod, signal)
    const stage = stageOf(pod)
    const elapsed = this.#elapsed(pod, stage)
    const step = nextStep({ pod, script: podScript(pod, this.#options.times), stage, elapsed, now: clock.now() })
    try {
      return await this.#execute(pod, step, node, signal)
    } catch (error) {
      if (isNotFound(error)) return undefined
      // Another client wrote first, and its event may already be processed.
      if (isConflict(error)) return 20
      throw error
    }
  }

  /** Deletes a pod whose node does not exist, after a delay in which the node may appear. */
  async #orphaned(pod: Stored<Pod>, signal: AbortSignal): Promise<number | undefined> {
    const left = ORPHANED_POD_TIMEOUT_MS - this.#elapsed(pod, 'orphaned')
    if (left > 0) return Math.ceil(left)
    try {
      return await this.#execute(pod, { type: 'delete' }, undefined, signal)
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined
      throw error
    }
  }

  async #execute(
    pod: Stored<Pod>,
    step: PodStep,
    node: Stored<Node> | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, kubelet } = this.#context
    switch (step.type) {
      case 'wait':
        return step.after
      case 'delete':
        await kubelet.delete(Pod, pod.metadata, {
          gracePeriodSeconds: 0,
          preconditions: { uid: pod.metadata.uid },
          signal,
        })
        return undefined
      default: {
        const hostIP = addressOf(node)
        const podIP = !step.needsIP ? undefined : pod.spec?.hostNetwork ? hostIP : this.#addresses.of(pod.metadata.uid)
        const { containers, phase } = step
        const status = podStatus(pod, { phase, containers, hostIP, podIP, now: clock.now() })
        if (isSameStatus(pod.status, status)) return undefined
        const written = await kubelet.update<Pod>(Pod, { ...pod, status }, { subresource: 'status', signal })
        const events = this.#eventsOf(pod.spec?.nodeName ?? '')
        for (const { type, reason, message } of step.events) events?.record(pod, type, reason, message)
        // Continues from the written status, because its event may arrive before this call returns.
        this.#worker.add(keyOf(written.metadata))
        return undefined
      }
    }
  }

  /** Milliseconds since the pod entered its stage, as far as known. */
  #elapsed(pod: Stored<Pod>, stage: PodStage | 'orphaned'): number {
    const { clock } = this.#context
    const count = pod.status?.containerStatuses?.[0]?.restartCount ?? 0
    // Readiness does not restart the running time.
    const name = `${stage === 'ready' ? 'running' : stage} ${count}`
    const known = this.#stages.get(pod.metadata.uid)
    if (known?.stage === name) return clock.monotonic() - known.since
    const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt
    // The pod already ran before this process started.
    const ran =
      known || !startedAt || stage === 'stopping' || stage === 'orphaned'
        ? 0
        : Math.max(clock.now() - Date.parse(startedAt), 0)
    this.#stages.set(pod.metadata.uid, { stage: name, since: clock.monotonic() - ran })
    return ran
  }

  #eventsOf(node: string): ObjectEvents | undefined {
    if (!this.#options.events) return undefined
    let events = this.#events.get(node)
    if (!events) {
      events = this.#context.recorderFor('kubelet', node)
      this.#events.set(node, events)
    }
    return events
  }
}

function addressOf(node: Node | undefined): string {
  return node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1'
}
