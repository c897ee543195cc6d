import type { Clock, ConnectionConfig, Random, Transport } from '@tenure/kube'
import type { StepHook } from '../actions/index.ts'
import type { ControllerDefinition } from '../controller/index.ts'
import type { Tracer } from '../tracing/tracing.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { WebhooksOptions } from '../webhooks/index.ts'
import type { ComponentDefinition } from './component.ts'

export interface LeaderElectionSettings {
  /** The name of the Lease. */
  readonly name: string
  /** Where it is. Default: the connection's namespace. */
  readonly namespace?: string | undefined
  /** Who we are in it. Default: the host name and a random part. */
  readonly identity?: string | undefined
  /** Milliseconds; see LeaderElector. Defaults 15,000, 10,000 and 2,000. */
  readonly leaseDuration?: number
  readonly renewDeadline?: number
  readonly retryPeriod?: number
  /**
   * What a lost lease means. `stop`: the manager stops at once and `run` rejects, so that the process can be started
   * afresh. `campaign`: only what leads stops at once; the rest goes on, and stands for election again. Default `stop`.
   */
  readonly whenLost?: 'stop' | 'campaign'
}

export interface ManagerOptions {
  readonly controllers?: readonly ControllerDefinition[]
  /** In whose name fields are owned and events are reported. Default `tenure`. */
  readonly name?: string
  /** How to reach the API server. Default: in-cluster, KUBECONFIG or ~/.kube/config, whichever applies. */
  readonly config?: ConnectionConfig
  /** Reach it this way instead. It stays open when the manager stops. */
  readonly transport?: Transport
  /** The namespace for what names none. Default: the connection's, or `default` with a transport. */
  readonly namespace?: string
  /** One leader among replicas: the name of a Lease, or more. Default: none, everybody works. */
  readonly leaderElection?: string | LeaderElectionSettings
  /** Admission webhooks, served on every replica. Default: none. */
  readonly webhooks?: Omit<WebhooksOptions, 'cluster' | 'clock' | 'random' | 'log' | 'metrics'>
  /** What else is started and stopped with it. Default: nothing. */
  readonly components?: readonly ComponentDefinition[]
  /** Where `/livez` and `/readyz` are served: `:8081`. Default: nowhere. */
  readonly probes?: string
  /** Where `/metrics` is served: `:8080`. Default: nowhere. */
  readonly metricsAddress?: string
  /** Milliseconds that running work gets when the manager stops. Default 30,000. */
  readonly gracePeriod?: number
  /** Default: silent. `createLogger` makes one. */
  readonly log?: Logger
  /** Default: made for `metricsAddress`, else none. */
  readonly metrics?: Metrics
  /** Default: no spans. */
  readonly tracer?: Tracer
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Default: the machine's. */
  readonly random?: Random
  /** Freeze cached objects, to find who changes them. Default false. */
  readonly freeze?: boolean
  /** For tests: told of every step, and may throw or wait there. Default: nobody. */
  readonly onStep?: StepHook
}
