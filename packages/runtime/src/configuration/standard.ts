import type { Table, Values } from './option.ts'

/** Settings of an operator that is elected. */
export const leaderElectionConfig = {
  enableLeaderElection: {
    type: 'boolean',
    default: true,
    meaning: 'Elect one replica that reconciles. Without election every replica reconciles: run only one.',
  },
  leaderElectionNamespace: {
    clusterOnly: true,
    type: 'string',
    meaning: "Namespace of the Lease. Default: the pod's namespace, or the kubeconfig's.",
  },
  podName: {
    type: 'string',
    meaning: 'Identity of this process in the Lease and in Events. Default: the host name and a random part.',
  },
} as const satisfies Table

/** Settings of an operator that serves admission webhooks in a cluster. */
export const webhookConfig = {
  webhooks: {
    type: 'boolean',
    default: true,
    meaning:
      'Serve admission webhooks and register them with the API server. A process that does not run in a pod and has no ' +
      'webhookUrl leaves them out, because the API server could not reach it.',
  },
  webhookPort: {
    clusterOnly: true,
    type: 'integer',
    default: 9443,
    min: 0,
    max: 65_535,
    meaning: 'Port of the webhooks, always HTTPS. 0 chooses a free port.',
  },
  webhookServiceName: {
    clusterOnly: true,
    type: 'string',
    meaning: 'Service in front of the webhooks. Default: named as the operator.',
  },
  webhookServiceNamespace: {
    clusterOnly: true,
    type: 'string',
    meaning: "Namespace of that Service. Default: the pod's namespace.",
  },
  webhookUrl: {
    clusterOnly: true,
    type: 'string',
    meaning:
      'URL at which the API server reaches the webhooks without a Service: https://host:port. Port 0 means webhookPort.',
  },
  webhookSecret: {
    clusterOnly: true,
    type: 'string',
    meaning: 'Secret in which the replicas share the certificate of the webhooks, in the namespace of the Service.',
  },
} as const satisfies Table

/** Settings of an operator that installs its CustomResourceDefinitions. */
export const definitionConfig = {
  installDefinitions: {
    clusterOnly: true,
    type: 'boolean',
    default: true,
    meaning: 'Install and upgrade the CustomResourceDefinition at start. Without it, wait until it exists.',
  },
} as const satisfies Table

/** Settings of an operator without an HTTP API: ports of its own for probes and metrics. */
export const probeConfig = {
  metricsBindAddress: {
    clusterOnly: true,
    type: 'address',
    default: ':8080',
    meaning: 'Address of /metrics; 0 serves none.',
  },
  healthProbeBindAddress: {
    clusterOnly: true,
    type: 'address',
    default: ':8081',
    meaning: 'Address of /livez and /readyz; 0 serves none.',
  },
} as const satisfies Table

/** The same for an operator whose ports are plain numbers. */
export const portConfig = {
  enableMetrics: { clusterOnly: true, type: 'boolean', default: true, meaning: 'Serve /metrics.' },
  metricsPort: {
    clusterOnly: true,
    type: 'integer',
    default: 9090,
    min: 0,
    max: 65_535,
    meaning: 'Port of /metrics.',
  },
  enableHealthCheck: { clusterOnly: true, type: 'boolean', default: true, meaning: 'Serve /healthz and /readyz.' },
  healthCheckPort: {
    clusterOnly: true,
    type: 'integer',
    default: 8080,
    min: 0,
    max: 65_535,
    meaning: 'Port of /healthz and /readyz.',
  },
} as const satisfies Table

/** Settings of an operator that can be told where its credentials for the API server come from. */
export const connectionConfig = {
  inCluster: {
    clusterOnly: true,
    type: 'boolean',
    default: true,
    meaning:
      'Use the service account of the pod. Without one the kubeconfig is used, and a message says so. False: always the kubeconfig.',
  },
} as const satisfies Table

export const logConfig = {
  logLevel: {
    clusterOnly: true,
    type: 'string',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    meaning: 'Lowest level that is logged.',
  },
  logFormat: {
    clusterOnly: true,
    type: 'string',
    choices: ['json', 'text'],
    meaning: 'Format of log lines: json for programs, text for people. Default: text on a terminal, otherwise json.',
  },
} as const satisfies Table

/** The settings that the manager itself reads, from every operator that has them. */
export type StandardSettings = Partial<
  Values<
    typeof leaderElectionConfig &
      typeof webhookConfig &
      typeof definitionConfig &
      typeof probeConfig &
      typeof portConfig &
      typeof connectionConfig &
      typeof logConfig
  >
>
