import type { Clock, ConnectionConfig, Random, Transport } from '@tenure/kube'
import type { StepHook } from '../actions/index.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { ConfiguredOperator, Operator, OperatorParts } from '../operator/index.ts'
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
}

/** An operator after its setup. */
export interface RunningOperator {
  readonly operator: Operator
  readonly context: OperatorContext
  readonly parts: OperatorParts
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
  /** Transport to use instead of `config`. It stays open when the manager stops. */
  readonly transport?: Transport
  /** Default: the namespace of the connection, or `default` with a transport. */
  readonly namespace?: string
  /** Servers that start before everything else, on every replica. Default: none. */
  readonly servers?: readonly OperatorServer[]
  /** False: no election, every process leads. Default: according to the operators' settings, which elect by default. */
  readonly leaderElection?: LeaderElectionOptions | false
  /**
   * How the API server reaches webhooks. `settings`: by a Service or URL from the operators' settings. `loopback`: at a
   * free port of this machine, served by the leader. `none`: webhooks are not served. Default `settings`.
   */
  readonly webhooks?: 'settings' | 'loopback' | 'none'
  /** Address of `/livez` and `/readyz`: `:8081`. Default: not served. */
  readonly probes?: string | undefined
  /** Address of `/metrics`: `:8080`. Default: not served. */
  readonly metricsAddress?: string | undefined
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
