import type { Clock, KubeApi, Random } from '@tenure/kube'
import type { Recorder, StepHook } from '../actions/index.ts'
import type { Discovery } from '../discovery/index.ts'
import type { Probes } from '../health/index.ts'
import type { Informers } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** A part of the process that the manager starts and stops. */
export interface Component {
  readonly name: string
  /** Resolves when it is ready. A rejection ends the manager, unless `signal` aborted. */
  start(signal: AbortSignal): Promise<void>
  /** Stops accepting work and waits `grace` milliseconds for running work. Zero: abort it at once. */
  stop(grace: number): Promise<void>
}

/** Context that all operators of a process share. */
export interface ManagerContext {
  readonly api: KubeApi
  readonly informers: Informers
  readonly discovery: Discovery
  readonly probes: Probes
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  /** The namespace of the connection: the pod's, or that of the kubeconfig's context. */
  readonly namespace: string
}

/** Context of an operator and its components. Its client, recorder and logger carry the operator's identity. */
export interface OperatorContext<S = unknown> extends ManagerContext {
  readonly settings: S
  readonly recorder: Recorder
  readonly identity: {
    /** Name of the operator in the cluster: its field manager and the reporter of its Events. */
    readonly name: string
    /** Identity of this process in the Lease. */
    readonly process: string
    /** The Lease of its election; undefined without one. */
    readonly lease: { readonly name: string; readonly namespace: string } | undefined
  }
  /** For tests: called at every step of an ActionRunner. Default: none. */
  readonly onStep?: StepHook | undefined
  /** True if this process leads now; always true without leader election. */
  isLeader(): boolean
}

/**
 * When a component runs.
 * - `serve`: from the start, on every replica: probes, HTTP.
 * - `work`: once the caches are filled, on every replica.
 * - `lead`: once the caches are filled, only on the leader; created again for each term, with a client that stops
 *   writing when the term ends.
 */
export type Stage = 'serve' | 'work' | 'lead'

export interface ComponentDefinition {
  readonly stage: Stage
  create(context: OperatorContext): Component
}
