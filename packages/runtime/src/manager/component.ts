import type { Clock, KubeApi, Random } from '@tenure/kube'
import type { Recorder } from '../actions/index.ts'
import type { Probes } from '../health/index.ts'
import type { Informers } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Something that is started and stopped with the manager. */
export interface Component {
  readonly name: string
  /** Resolves when it does its job. Rejects if it can not, which ends the manager, or if `signal` aborts. */
  start(signal: AbortSignal): Promise<void>
  /** Takes nothing new, and finishes what runs within `grace` milliseconds. Zero: drop it at once. */
  stop(grace: number): Promise<void>
}

/** What the manager lends to components. */
export interface ManagerContext {
  readonly api: KubeApi
  readonly informers: Informers
  readonly recorder: Recorder
  readonly probes: Probes
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  /** The namespace that the connection names: of the pod, or of the kubeconfig's context. */
  readonly namespace: string
  /** Whether this process leads, now; always true without leader election. */
  isLeader(): boolean
}

/**
 * When a component runs.
 * - `serve`: from the first moment, on every replica: probes, HTTP.
 * - `work`: once caches are full, on every replica.
 * - `lead`: once caches are full, only on the leader; made anew for each term.
 */
export type Stage = 'serve' | 'work' | 'lead'

export interface ComponentDefinition {
  readonly stage: Stage
  create(context: ManagerContext): Component
}
