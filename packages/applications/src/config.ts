import { defineConfiguration } from '@tenure/runtime'
import type { Configuration, Table, Values } from '@tenure/runtime'
import { OPERATOR } from './api/index.ts'
import { defaultImagePolicy, type ImagePolicy } from './admission/image-policy.ts'

/** Every setting of the applications operator. `tenure start` shares the table, with defaults for one machine. */
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
    meaning: 'Look after the Applications of this namespace only. Without it: of all.',
  },
  concurrency: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 1_000,
    meaning: 'Applications worked on at once.',
  },
  installDefinitions: {
    type: 'boolean',
    default: true,
    meaning: 'Install and upgrade the CustomResourceDefinition at the start. Without it: wait until it is there.',
  },
  createNamespaces: {
    type: 'boolean',
    default: false,
    meaning: 'Make the namespace that an Application is posted into, if there is none. On with `tenure start`.',
  },
  eventHistoryLimit: {
    type: 'integer',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'Events that /events remembers.',
  },
  blockedBaseImages: {
    type: 'list',
    default: defaultImagePolicy.blockedBases,
    meaning:
      'Images that may not run because they are bases to build on: a name means every repository that ends in it, a ' +
      'name with a slash that repository only. none blocks nothing.',
  },
  allowedRegistries: {
    type: 'list',
    default: defaultImagePolicy.allowedRegistries,
    meaning: 'Hosts that images may come from; *.gcr.io is every host below gcr.io, * every host.',
  },
  imagePolicyOnRest: {
    type: 'boolean',
    default: false,
    meaning: 'Hold the image policy also against what comes through the HTTP API, and not only against kubectl.',
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
  summary: 'Makes a real, watched, guarded workload of every Application.',
  options: applicationsTable,
  configEnvironment: 'CONFIG_FILE',
})

/** The image policy that settings ask for. An environment variable can not be empty, so that none has a name. */
export function imagePolicyOf({
  blockedBaseImages,
  allowedRegistries,
}: Pick<ApplicationsSettings, 'blockedBaseImages' | 'allowedRegistries'>): ImagePolicy {
  return { blockedBases: blockedBaseImages.filter((name) => name !== 'none'), allowedRegistries }
}
