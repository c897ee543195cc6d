import { dashboardConfig } from '@tenure/http/config'
import { type ObjectRef, refOf, TenureError } from '@tenure/kube'
import {
  defineConfiguration,
  definitionConfig,
  leaderElectionConfig,
  logConfig,
  probeConfig,
  type Table,
  type Values,
  webhookConfig,
} from '@tenure/runtime/configuration'
import { type LeaseFamily, leaseFamily, NEWER_FAMILY, SEED_FAMILY } from './api/annotations.ts'
import { type CleanupSettings, defaultLeaseSettings, type GroupVersionKind, type LeaseSettings } from './api/types.ts'
import { isDnsSubdomain } from '@tenure/kube/model'
import { optInLabelProblem } from './controllers/lease/namespace-filter.ts'

/** Prefixes of the lease annotations: included by every program that reads them. */
export const familiesConfig = {
  prefix: {
    type: 'string',
    default: SEED_FAMILY.prefix,
    environment: 'LEASE_PREFIX',
    meaning: 'Prefix of the annotation family with extended-at.',
  },
  newerPrefix: {
    type: 'string',
    default: NEWER_FAMILY.prefix,
    environment: 'LEASE_NEWER_PREFIX',
    meaning: 'Prefix of the annotation family with lease-start. The same value as --prefix disables that family.',
  },
} as const satisfies Table

/** Limits of cleanup jobs: included by every program that runs lease controllers. */
export const cleanupConfig = {
  cleanupPolicy: {
    type: 'string',
    choices: ['any', 'listed'],
    default: defaultLeaseSettings.cleanup.policy,
    environment: 'LEASE_CLEANUP_POLICY',
    meaning:
      'What cleanup jobs may use. listed: the default image, the ServiceAccount default, what the lists below and the LeaseController ' +
      'allow, and ServiceAccounts and Secrets with the annotation allow-cleanup-jobs. any: what their objects ask for.',
  },
  cleanupImage: {
    type: 'string',
    default: defaultLeaseSettings.cleanup.image,
    environment: 'LEASE_CLEANUP_IMAGE',
    meaning: 'Image of cleanup jobs that name none. It needs sh, and kubectl for scripts that use it.',
  },
  cleanupImages: {
    type: 'list',
    default: [],
    environment: 'LEASE_CLEANUP_IMAGES',
    meaning: 'Patterns of further images that cleanup jobs may use; * stands for any text.',
  },
  cleanupServiceAccounts: {
    type: 'list',
    default: [],
    environment: 'LEASE_CLEANUP_SERVICE_ACCOUNTS',
    meaning: 'Patterns of further ServiceAccounts that cleanup jobs may use; * stands for any text.',
  },
  cleanupSecrets: {
    type: 'list',
    default: [],
    environment: 'LEASE_CLEANUP_SECRETS',
    meaning: 'Patterns of Secrets that cleanup jobs may use; * stands for any text.',
  },
} as const satisfies Table

/** Settings of `tenure leases`. Flags and variables are those of the original. */
export const leasesConfig = {
  ...leaderElectionConfig,
  ...probeConfig,
  ...logConfig,
  group: {
    type: 'string',
    default: '',
    environment: 'LEASE_GVK_GROUP',
    meaning: 'API group of the kind whose leases are managed. Empty: the core group.',
  },
  version: {
    type: 'string',
    required: true,
    environment: 'LEASE_GVK_VERSION',
    meaning: 'Version of the kind.',
  },
  kind: {
    type: 'string',
    required: true,
    environment: 'LEASE_GVK_KIND',
    meaning: 'The kind, such as Deployment. The controller waits for a kind that does not exist yet.',
  },
  enableLeaderElection: {
    ...leaderElectionConfig.enableLeaderElection,
    default: false,
    flag: 'leader-elect',
    file: 'leaderElect',
    environment: 'LEASE_LEADER_ELECTION',
  },
  leaderElectionNamespace: {
    ...leaderElectionConfig.leaderElectionNamespace,
    flag: 'leader-elect-namespace',
    file: 'leaderElectNamespace',
    environment: 'LEASE_LEADER_ELECTION_NAMESPACE',
  },
  metricsBindAddress: { ...probeConfig.metricsBindAddress, environment: 'LEASE_METRICS_BIND_ADDRESS' },
  healthProbeBindAddress: { ...probeConfig.healthProbeBindAddress, environment: 'LEASE_HEALTH_PROBE_BIND_ADDRESS' },
  optInLabelKey: {
    type: 'string',
    environment: 'LEASE_OPT_IN_LABEL_KEY',
    meaning: 'Manage only namespaces with this label. Cluster-scoped kinds are not filtered.',
  },
  optInLabelValue: {
    type: 'string',
    environment: 'LEASE_OPT_IN_LABEL_VALUE',
    meaning: 'Required value of the label. Default: any.',
  },
  dryRun: {
    type: 'boolean',
    default: false,
    environment: 'LEASE_DRY_RUN',
    meaning: 'Write dates and statuses, but delete nothing and run no cleanup jobs; report what would be deleted.',
  },
  headsUpPercent: {
    type: 'integer',
    default: 10,
    min: 0,
    max: 100,
    environment: 'LEASE_HEADS_UP_PERCENT',
    meaning: 'Percentage of the TTL before expiry at which a LeaseExpiring Event is recorded. 0: never.',
  },
  headsUpMax: {
    type: 'duration',
    default: '1h',
    min: '0s',
    environment: 'LEASE_HEADS_UP_MAX',
    meaning: 'Longest time before expiry at which a LeaseExpiring Event is recorded.',
  },
  ...familiesConfig,
  ...cleanupConfig,
  report: {
    type: 'string',
    environment: 'LEASE_REPORT',
    meaning:
      'Lease, as namespace/name, to which the controller reports its state for a LeaseController. Default: none.',
  },
  concurrency: {
    type: 'integer',
    default: 32,
    min: 1,
    max: 256,
    environment: 'LEASE_CONCURRENCY',
    meaning: 'Number of objects written or deleted concurrently.',
  },
} as const satisfies Table

export const leasesConfiguration = defineConfiguration({
  program: 'tenure leases',
  summary: 'Manage the leases of one kind: delete objects when their TTL has passed.',
  options: leasesConfig,
})

export type LeasesSettings = Values<typeof leasesConfig>

/** The lease settings among the values. */
export function leaseSettings(values: LeasesSettings): LeaseSettings {
  return {
    ...defaultLeaseSettings,
    families: leaseFamilies(values),
    dryRun: values.dryRun,
    optIn: optInOf(values),
    expiryWarning: { fraction: values.headsUpPercent / 100, atMost: values.headsUpMax },
    cleanup: cleanupSettings(values),
  }
}

export function cleanupSettings(values: Values<typeof cleanupConfig>): CleanupSettings {
  return {
    image: values.cleanupImage,
    policy: values.cleanupPolicy,
    images: values.cleanupImages,
    serviceAccounts: values.cleanupServiceAccounts,
    secrets: values.cleanupSecrets,
  }
}

/** Flags that make another process allow the same for cleanup jobs. */
export function cleanupFlags(cleanup: CleanupSettings): readonly string[] {
  const { image, policy } = defaultLeaseSettings.cleanup
  return [
    ...(cleanup.policy === policy ? [] : [`--cleanup-policy=${cleanup.policy}`]),
    ...(cleanup.image === image ? [] : [`--cleanup-image=${cleanup.image}`]),
    ...listFlag('cleanup-images', cleanup.images),
    ...listFlag('cleanup-service-accounts', cleanup.serviceAccounts),
    ...listFlag('cleanup-secrets', cleanup.secrets),
  ]
}

function listFlag(flag: string, values: readonly string[]): readonly string[] {
  return values.length === 0 ? [] : [`--${flag}=${values.join(',')}`]
}

/** An empty key means none, as in the original. A value without a key is refused: it would mean all namespaces. */
function optInOf({ optInLabelKey: key, optInLabelValue: value }: LeasesSettings): LeaseSettings['optIn'] {
  if (key) {
    const problem = optInLabelProblem({ key, value })
    if (problem !== undefined)
      throw invalidConfiguration(`${problem}; correct --opt-in-label-key and --opt-in-label-value.`)
    return { key, value }
  }
  if (!value) return undefined
  throw invalidConfiguration(
    '--opt-in-label-value needs --opt-in-label-key; set the key, or leave both out to manage all namespaces.',
  )
}

function invalidConfiguration(reason: string): TenureError {
  return new TenureError('TENURE_CONFIGURATION_INVALID', `tenure leases cannot start: ${reason}`)
}

/** Name of the leader election Lease of a kind's controller, as the original names it. */
export function leaderName({ group, version, kind }: GroupVersionKind): string {
  return ['object-lease-controller', group, version, kind].filter(Boolean).join('-').toLowerCase()
}

/** Both families, or only the first if their prefixes are equal. */
export function leaseFamilies(values: Values<typeof familiesConfig>): readonly LeaseFamily[] {
  const seed = leaseFamily(prefixOf('--prefix', values.prefix), SEED_FAMILY.start)
  const newer = leaseFamily(prefixOf('--newer-prefix', values.newerPrefix), NEWER_FAMILY.start)
  return seed.prefix === newer.prefix ? [seed] : [seed, newer]
}

/** Flags that make another process read the same families. */
export function familyFlags(families: readonly LeaseFamily[]): readonly string[] {
  const prefixWith = (start: LeaseFamily['start']): string | undefined =>
    families.find((family) => family.start === start)?.prefix
  const prefix = prefixWith(SEED_FAMILY.start) ?? SEED_FAMILY.prefix
  const newer = prefixWith(NEWER_FAMILY.start) ?? prefix
  return [
    ...(prefix === SEED_FAMILY.prefix ? [] : [`--prefix=${prefix}`]),
    ...(newer === NEWER_FAMILY.prefix ? [] : [`--newer-prefix=${newer}`]),
  ]
}

/** Adds the slash. With a prefix that is not a DNS name no annotation could ever match. */
function prefixOf(flag: string, text: string): string {
  const domain = text.replace(/\/$/, '')
  if (isDnsSubdomain(domain)) return `${domain}/`
  throw new TenureError(
    'TENURE_CONFIGURATION_INVALID',
    `${flag} must be a DNS name such as ${SEED_FAMILY.prefix}, not ${JSON.stringify(text)}.`,
  )
}

/** Without the switch: `leaseAdmission` decides whether there is a webhook. */
const { webhooks: _, ...webhookAddressConfig } = webhookConfig

/** Settings of `tenure lease-controllers`. */
export const leaseControllersConfig = {
  ...leaderElectionConfig,
  enableLeaderElection: {
    ...leaderElectionConfig.enableLeaderElection,
    flag: 'leader-elect',
    file: 'leaderElect',
    environment: 'LEASE_LEADER_ELECTION',
  },
  ...webhookAddressConfig,
  ...definitionConfig,
  ...probeConfig,
  ...logConfig,
  ...familiesConfig,
  ...cleanupConfig,
  leaseControllerMode: {
    clusterOnly: true,
    type: 'string',
    choices: ['dedicated', 'shared'],
    environment: 'LEASE_CONTROLLER_MODE',
    meaning:
      'How a LeaseController without a mode runs: in its own Deployment, or inside the operator. Default: dedicated if an image is set.',
  },
  leaseControllerImage: {
    clusterOnly: true,
    type: 'string',
    environment: 'LEASE_CONTROLLER_IMAGE',
    meaning: 'Image of dedicated lease controllers. Default: none, all lease controllers run inside the operator.',
  },
  leaseControllerNamespace: {
    clusterOnly: true,
    type: 'string',
    environment: 'LEASE_CONTROLLER_NAMESPACE',
    meaning: "Namespace of dedicated lease controllers. Default: the operator's own.",
  },
  leaseAdmission: {
    type: 'boolean',
    default: false,
    environment: 'LEASE_ADMISSION',
    meaning:
      'Refuse invalid lease annotations at admission, with the reason. ' +
      'Without it, or while the webhook is unavailable, lease-status shows the reason later.',
  },
  createDefaultLeaseControllers: {
    clusterOnly: true,
    type: 'boolean',
    default: false,
    environment: 'LEASE_CREATE_DEFAULT_CONTROLLERS',
    meaning: 'Create LeaseControllers for common kinds once. On with `tenure start`.',
  },
  ...dashboardConfig,
} as const satisfies Table

export type LeaseControllersSettings = Values<typeof leaseControllersConfig>

/** Parses `namespace/name`, as the operator writes it into `LEASE_REPORT`. */
export function reportLease(text: string): ObjectRef {
  if (/^[^/\s]+\/[^/\s]+$/.test(text)) return refOf(text)
  throw new TenureError('TENURE_LEASE_REPORT', `LEASE_REPORT must name a Lease as namespace/name, not "${text}".`)
}
