import { isConflict, isNotFound, keyOf, type Stored } from '@tenure/kube'
import { Node, Pod } from '@tenure/kube/kinds'
import type { Component, InformerEvent } from '@tenure/runtime'
import type { Events } from '../common/core-events.ts'
import { KeyedWorker } from '../keyed-worker.ts'
import type { Surroundings } from '../context.ts'
import { PodAddresses } from './addresses.ts'
import { nextStep, type PodStep, type Stage, stageOf } from './pod-lifecycle.ts'
import { podStatus, saysTheSame } from './pod-status.ts'
import { type PodTimes, scriptOf } from './simulation.ts'

export interface KubeletOptions {
  readonly times: PodTimes
  /** Whether pods get the events that a kubelet reports. */
  readonly events: boolean
}

interface Memory {
  stage: string
  /** When it came there, on the monotonic clock. */
  since: number
}

/** Milliseconds after which a pod whose node is gone is deleted. */
const QUARANTINE = 40_000

/** Plays the kubelets of all simulated nodes: takes pods through their lives, without containers. */
export function kubelets(around: Surroundings, options: KubeletOptions): Component {
  return new Kubelets(around, options).component
}

class Kubelets {
  readonly component: KeyedWorker
  readonly #around: Surroundings
  readonly #options: KubeletOptions
  readonly #memory = new Map<string, Memory>()
  readonly #addresses = new PodAddresses()
  readonly #events = new Map<string, Events>()

  constructor(around: Surroundings, options: KubeletOptions) {
    this.#around = around
    this.#options = options
    const { clock, informers, log, metrics } = around
    const pods = informers.informer(Pod)
    const nodes = informers.informer(Node)
    this.component = new KeyedWorker({
      name: 'kubelet',
      clock,
      log,
      metrics,
      concurrency: 16,
      informers: [pods, nodes],
      begin: () => pods.subscribe((event) => this.#noticed(event)),
      work: (key, signal) => this.#work(key, signal),
    })
  }

  #noticed(event: InformerEvent<Pod>): void {
    const { metadata, status } = event.object
    if (event.type === 'deleted') {
      this.#memory.delete(metadata.uid)
      this.#addresses.release(metadata.uid)
      return
    }
    if (status?.podIP) this.#addresses.note(metadata.uid, status.podIP)
    if (this.#isOurs(event.object)) this.component.add(keyOf(metadata))
  }

  /** On a node of ours, or on none and going: somebody has to see to those too. */
  #isOurs(pod: Stored<Pod>): boolean {
    return pod.spec?.nodeName ? true : Boolean(pod.metadata.deletionTimestamp)
  }

  async #work(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { clock, informers } = this.#around
    const pod = informers.informer(Pod).cache.getByKey(key)
    if (!pod) return undefined
    const nodeName = pod.spec?.nodeName
    const node = nodeName === undefined ? undefined : informers.informer(Node).cache.get({ name: nodeName })
    if (!node && !pod.metadata.deletionTimestamp && nodeName === undefined) return undefined
    if (!node && nodeName !== undefined) return this.#orphaned(pod, signal)
    const stage = stageOf(pod)
    const elapsed = this.#elapsed(pod, stage)
    const step = nextStep({ pod, script: scriptOf(pod, this.#options.times), stage, elapsed, now: clock.now() })
    try {
      return await this.#carryOut(pod, step, node, signal)
    } catch (error) {
      if (isNotFound(error)) return undefined
      // Somebody wrote before us: that event may already have passed.
      if (isConflict(error)) return 20
      throw error
    }
  }

  /** A pod on a node that is not there: nobody can stop it, so it is given up, but not before the node had time to come. */
  async #orphaned(pod: Stored<Pod>, signal: AbortSignal): Promise<number | undefined> {
    const left = QUARANTINE - this.#elapsed(pod, 'orphaned')
    if (left > 0) return Math.ceil(left)
    try {
      return await this.#carryOut(pod, { type: 'delete' }, undefined, signal)
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined
      throw error
    }
  }

  async #carryOut(
    pod: Stored<Pod>,
    step: PodStep,
    node: Stored<Node> | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, kubelet } = this.#around
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
        if (saysTheSame(pod.status, status)) return undefined
        const written = await kubelet.update<Pod>(Pod, { ...pod, status }, { subresource: 'status', signal })
        const events = this.#eventsOf(pod.spec?.nodeName ?? '')
        for (const { type, reason, message } of step.notes) events?.record(pod, type, reason, message)
        // Read on from what was written; its event may come before this returns, and would find the old stage.
        this.component.add(keyOf(written.metadata))
        return undefined
      }
    }
  }

  /** Milliseconds since the pod is in its stage, as far as is known. */
  #elapsed(pod: Stored<Pod>, stage: Stage | 'orphaned'): number {
    const { clock } = this.#around
    const count = pod.status?.containerStatuses?.[0]?.restartCount ?? 0
    // Ready or not, it runs since it runs.
    const name = `${stage === 'ready' ? 'running' : stage} ${count}`
    const known = this.#memory.get(pod.metadata.uid)
    if (known?.stage === name) return clock.monotonic() - known.since
    const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt
    // Seen for the first time, and already running: it was there before we were.
    const ran =
      known || !startedAt || stage === 'stopping' || stage === 'orphaned'
        ? 0
        : Math.max(clock.now() - Date.parse(startedAt), 0)
    this.#memory.set(pod.metadata.uid, { stage: name, since: clock.monotonic() - ran })
    return ran
  }

  #eventsOf(node: string): Events | undefined {
    if (!this.#options.events) return undefined
    let events = this.#events.get(node)
    if (!events) {
      events = this.#around.events('kubelet', node)
      this.#events.set(node, events)
    }
    return events
  }
}

function addressOf(node: Node | undefined): string {
  return node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1'
}
