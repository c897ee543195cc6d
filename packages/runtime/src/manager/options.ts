import type { Clock, ConnectionConfig, Random, Transport } from '@tenure/kube'
import type { StepHook } from '../actions/index.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { ConfiguredOperator, Operator, OperatorParts, OperatorQueue } from '../operator/index.ts'
import type { Tracer } from '../tracing/tracing.ts'
import type { Component, ManagerContext, OperatorContext } from './component.ts'

export interface LeaderElectionOptions {
  /** Milliseconds; see LeaderElector. Defaults 15,000, 10,000 and 2,000. */
  readonly leaseDuration?: number
  readonly renewDeadline?: number
  readonly retryPeriod?: number
  /**
   * Reaction to a lost lease. `campaign`: the parts that lead stop at once, the rest continues, and the operator
   * becomes a candidate again. `stop`: the manager stops at once and `run` rejects. Default `campaign`.
   */
  readonly whenLost?: 'stop' | 'campaign'
  /** Whether the process of an identity is proved to have ended: its Leases are taken at once. Default: no process is. */
  readonly isEnded?: (identity: string) => boolean
}

/** An operator after its setup. */
export interface RunningOperator {
  readonly operator: Operator
  readonly context: OperatorContext
  readonly parts: OperatorParts
  /** The queues of its controllers and components. */
  readonly queues: readonly OperatorQueue[]
}

/**
 * Decides which of several processes on one machine registers its loopback webhooks: the one that runs the API server. Its
 * webhooks live exactly as long as the server that calls them.
 */
export interface WebhookRegistrar {
  /**
   * Adds webhooks that are served. Resolves when they are registered, or at once if another process registers its own.
   * `register` is called again whenever this process begins to run the API server. Returns a function that removes them.
   */
  add(register: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<() => void>
  /** All webhooks of this process were added. */
  complete(): void
}

/** Serves parts of all operators of a process in one place: an HTTP server serves their routes. */
export interface OperatorServer {
  create(operators: readonly RunningOperator[], context: ManagerContext): Component
}

export interface RunOperatorsOptions {
  /** Operators with their settings, or with the defaults of their tables. Each has its own election. */
  readonly operators: readonly (Operator | ConfiguredOperator)[]
  /** Connection to the API server. Default: in-cluster, KUBECONFIG or ~/.kube/config, whichever applies. */
  readonly config?: ConnectionConfig
  /**
   * True: the service account of the pod, and without one the kubeconfig, which is logged. False: the kubeconfig, also in a
   * pod. Default: the service account, unless KUBECONFIG is set.
   */
  readonly inCluster?: boolean | undefined
  /** Transport to use instead of `config`. It stays open when the manager stops. */
  readonly transport?: Transport
  /** Default: the namespace of the connection, or `default` with a transport. */
  readonly namespace?: string
  /** Identity of this process in Leases, unless an operator's settings name another. Default: host name and random suffix. */
  readonly identity?: string
  /** Servers that start before everything else, on every replica. Default: none. */
  readonly servers?: readonly OperatorServer[]
  /** False: no election, every process leads. Default: according to the operators' settings, which elect by default. */
  readonly leaderElection?: LeaderElectionOptions | false
  /**
   * How the API server reaches webhooks. `settings`: by a Service or URL from the operators' settings. `loopback`: at a
   * free port of this machine. A `WebhookRegistrar`: the same, registered when it says so. `none`: webhooks are not
   * served. Default `settings`.
   */
  readonly webhooks?: 'settings' | 'loopback' | 'none' | WebhookRegistrar
  /** Called once, when webhooks are served, caches are filled and it is known which operators this process leads. Default: none. */
  readonly onReady?: (leading: Readonly<Record<string, boolean>>) => void
  /** Called when everything that leads an operator has started in this process, and when its term has ended. Default: none. */
  readonly onLeading?: (operator: string, isLeading: boolean) => void
  /** Address of `/livez` and `/readyz`: `:8081`. Default: not served. */
  readonly probes?: string | undefined
  /** Address of `/metrics`: `:8080`. Default: not served. */
  readonly metricsAddress?: string | undefined
  /** Names of the settings with those addresses, for messages. Default: none. */
  readonly addressSettings?: { readonly probes?: string | undefined; readonly metrics?: string | undefined }
  /** Milliseconds that running work gets when the manager stops. Default 30,000. */
  readonly gracePeriod?: number
  /** Default: no logs. `createLogger` makes a logger. */
  readonly log?: Logger
  /** Default: created if `metricsAddress` is set, otherwise none. */
  readonly metrics?: Metrics
  /** Default: no spans. */
  readonly tracer?: Tracer
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Default: the system's generator. */
  readonly random?: Random
  /** Freeze cached objects, to find code that changes them. Default false. */
  readonly freeze?: boolean
  /** For tests: called at every step, and may throw or wait there. Default: none. */
  readonly onStep?: StepHook
}
