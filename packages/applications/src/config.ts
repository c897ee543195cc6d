import { defineConfiguration } from '@tenure/runtime'
import type { Configuration, Table, Values } from '@tenure/runtime'
import { OPERATOR } from './api/index.ts'
import { defaultImagePolicy, type ImagePolicy } from './admission/image-policy.ts'

/** Every setting of the applications operator. `tenure start` shares the table, with other defaults. */
export const applicationsTable = {
  port: {
    type: 'integer',
    default: 3000,
    min: 0,
    max: 65_535,
    meaning: 'Port of the HTTP API, probes, metrics and the dashboard; 0 takes any free one.',
  },
  host: {
    type: 'string',
    default: '127.0.0.1',
    environment: 'LISTEN_HOST',
    meaning: 'Address to listen on. Anything but a loopback address asks callers for a token, unless AUTH is none.',
  },
  auth: {
    type: 'string',
    choices: ['auto', 'token', 'none'],
    default: 'auto',
    meaning:
      'Who may call the HTTP API. token: who has a bearer token that the API server accepts, and the rights it says he ' +
      'has. none: everybody. auto: everybody on a loopback address, else token.',
  },
  tlsCertFile: {
    type: 'string',
    meaning: 'Certificate to serve HTTPS with, as PEM; read again when it changes. Without one HTTP is served.',
  },
  tlsKeyFile: { type: 'string', meaning: 'Key of that certificate, as PEM.' },
  enableLeaderElection: {
    type: 'boolean',
    default: true,
    meaning: 'Let one replica at a time reconcile. Without it every replica does: run only one then.',
  },
  leaderElectionNamespace: {
    type: 'string',
    meaning: "Where the Lease is. Without it: the pod's namespace, or the kubeconfig's.",
  },
  podName: {
    type: 'string',
    meaning: 'Who this process is, in the Lease and in events. Without it: the host name and a random part.',
  },
  readyzLeaderOnly: {
    type: 'boolean',
    default: false,
    meaning: 'Answer /readyz with 503 on replicas that do not lead, although they serve reads.',
  },
  namespace: {
    type: 'string',
    environment: 'WATCH_NAMESPACE',
    meaning: 'Namespace whose Applications are managed. Default: all namespaces.',
  },
  concurrency: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 1_000,
    meaning: 'Number of Applications reconciled at once.',
  },
  installDefinitions: {
    type: 'boolean',
    default: true,
    meaning: 'Install and upgrade the CustomResourceDefinition at start. If false, wait until it exists.',
  },
  createNamespaces: {
    type: 'boolean',
    default: false,
    meaning: 'Create the namespace of a posted Application if it does not exist. On with `tenure start`.',
  },
  eventHistoryLimit: {
    type: 'integer',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'Maximum number of events that /events keeps.',
  },
  blockedBaseImages: {
    type: 'list',
    default: defaultImagePolicy.blockedBases,
    meaning:
      'Base images that may not run. A name matches every repository that ends in it, a name with a slash that ' +
      'repository only. none blocks nothing.',
  },
  allowedRegistries: {
    type: 'list',
    default: defaultImagePolicy.allowedRegistries,
    meaning: 'Hosts that images may come from; *.gcr.io matches every host below gcr.io, * every host.',
  },
  imagePolicyOnRest: {
    type: 'boolean',
    default: false,
    meaning: 'Apply the image policy to writes of the HTTP API too, not only to those of kubectl.',
  },
  webhooks: {
    type: 'boolean',
    default: true,
    meaning:
      'Serve admission webhooks and register them with the API server. Left out in a process that is no pod and has no ' +
      'webhookUrl, because the API server could not reach it.',
  },
  webhookPort: {
    type: 'integer',
    default: 9443,
    min: 0,
    max: 65_535,
    meaning: 'Port that the webhooks are served on, always by HTTPS; 0 takes any free one.',
  },
  webhookFailurePolicy: {
    type: 'string',
    choices: ['Fail', 'Ignore'],
    default: 'Fail',
    meaning:
      'What becomes of writes to Applications while no replica can be asked: refused, or let through. Nothing else ' +
      'is ever sent to the webhooks. Ignore with `tenure start`.',
  },
  webhookServiceName: {
    type: 'string',
    default: OPERATOR,
    meaning: 'The Service in front of the webhooks, in a cluster.',
  },
  webhookServiceNamespace: {
    type: 'string',
    meaning: "Where that Service is. Without it: the pod's namespace.",
  },
  webhookUrl: {
    type: 'string',
    meaning:
      'Where the API server finds the webhooks if not behind a Service: https://host:port; port 0 is webhookPort.',
  },
  webhookSecret: {
    type: 'string',
    default: 'elide-operator-webhook',
    meaning: "Secret that the replicas share the webhooks' certificate in, next to the Service.",
  },
  logLevel: {
    type: 'string',
    choices: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    meaning: 'The least important lines that are logged.',
  },
  logFormat: {
    type: 'string',
    choices: ['json', 'text'],
    default: 'json',
    meaning: 'How log lines are written: for programs, or for people.',
  },
} as const satisfies Table

export type ApplicationsSettings = Values<typeof applicationsTable>

export const applicationsConfiguration: Configuration<typeof applicationsTable> = defineConfiguration({
  program: 'tenure applications',
  summary: 'Runs the Applications operator.',
  options: applicationsTable,
  configEnvironment: 'CONFIG_FILE',
})

/** Image policy of the settings. `none` stands for an empty list, because an environment variable cannot be empty. */
export function imagePolicyOf({
  blockedBaseImages,
  allowedRegistries,
}: Pick<ApplicationsSettings, 'blockedBaseImages' | 'allowedRegistries'>): ImagePolicy {
  return { blockedBases: blockedBaseImages.filter((name) => name !== 'none'), allowedRegistries }
}
