import { TenureError } from '@tenure/kube'
import { defineConfiguration, type Table, type Values } from '@tenure/runtime'
import { type LeaseFamily, NEWER_FAMILY, SEED_FAMILY } from './api/annotations.ts'
import { defaultLeaseSettings, type GroupVersionKind, type LeaseSettings } from './api/types.ts'
import { isDnsName } from './dns-name.ts'
import { optInProblem } from './controllers/lease/namespace-filter.ts'

/** Rows of the configuration of all who read lease annotations: what these begin with. */
export const familiesTable = {
  prefix: {
    type: 'string',
    default: SEED_FAMILY.prefix,
    environment: 'LEASE_PREFIX',
    meaning: 'What the annotations of the family with extended-at begin with.',
  },
  newerPrefix: {
    type: 'string',
    default: NEWER_FAMILY.prefix,
    environment: 'LEASE_NEWER_PREFIX',
    meaning:
      'What the annotations of the family with lease-start begin with. The same as --prefix: that family is not read.',
  },
} as const satisfies Table

const options = {
  group: {
    type: 'string',
    default: '',
    environment: 'LEASE_GVK_GROUP',
    meaning: 'The API group of the kind whose leases are kept. Empty: the core group.',
  },
  version: {
    type: 'string',
    required: true,
    environment: 'LEASE_GVK_VERSION',
    meaning: 'The version of the kind.',
  },
  kind: {
    type: 'string',
    required: true,
    environment: 'LEASE_GVK_KIND',
    meaning: 'The kind, such as Deployment. One that does not exist yet is waited for.',
  },
  leaderElect: {
    type: 'boolean',
    default: false,
    environment: 'LEASE_LEADER_ELECTION',
    meaning: 'Let one of several replicas lead.',
  },
  leaderElectNamespace: {
    type: 'string',
    environment: 'LEASE_LEADER_ELECTION_NAMESPACE',
    meaning: "Where the Lease of the election is. Default: the connection's namespace.",
  },
  optInLabelKey: {
    type: 'string',
    environment: 'LEASE_OPT_IN_LABEL_KEY',
    meaning: 'Only namespaces with this label are managed. Kinds that are in no namespace are not filtered.',
  },
  optInLabelValue: {
    type: 'string',
    environment: 'LEASE_OPT_IN_LABEL_VALUE',
    meaning: 'The value that the label must have. Default: any.',
  },
  metricsBindAddress: {
    type: 'address',
    default: ':8080',
    environment: 'LEASE_METRICS_BIND_ADDRESS',
    meaning: 'Where /metrics is served; 0 for nowhere.',
  },
  healthProbeBindAddress: {
    type: 'address',
    default: ':8081',
    environment: 'LEASE_HEALTH_PROBE_BIND_ADDRESS',
    meaning: 'Where /livez and /readyz are served; 0 for nowhere.',
  },
  dryRun: {
    type: 'boolean',
    default: false,
    environment: 'LEASE_DRY_RUN',
    meaning: 'Keep dates and statuses, delete nothing and run no cleanup job: say what would be deleted.',
  },
  headsUpPercent: {
    type: 'integer',
    default: 10,
    min: 0,
    max: 100,
    environment: 'LEASE_HEADS_UP_PERCENT',
    meaning: 'How much of its TTL before its end a lease is announced to end, by a LeaseExpiring Event. 0: never.',
  },
  headsUpMax: {
    type: 'duration',
    default: '1h',
    min: '0s',
    environment: 'LEASE_HEADS_UP_MAX',
    meaning: 'The longest time before its end that a lease is announced to end.',
  },
  ...familiesTable,
  report: {
    type: 'string',
    environment: 'LEASE_REPORT',
    meaning: 'A Lease, as namespace/name, in which to say what is kept: a LeaseController has one. Default: nowhere.',
  },
  concurrency: {
    type: 'integer',
    default: 32,
    min: 1,
    max: 256,
    environment: 'LEASE_CONCURRENCY',
    meaning: 'Objects that are written or deleted at once.',
  },
} as const

/** What `tenure leases` can be told. */
export const leasesConfiguration = defineConfiguration({
  program: 'tenure leases',
  summary: 'Keeps the leases of one kind: objects with a TTL are deleted when it has passed.',
  options,
})

export type LeasesValues = Values<typeof options>

/** The part of them that says how leases are kept. */
export function leaseSettings(values: LeasesValues): LeaseSettings {
  return {
    ...defaultLeaseSettings,
    families: leaseFamilies(values),
    dryRun: values.dryRun,
    optIn: optInOf(values),
    expiryWarning: { fraction: values.headsUpPercent / 100, atMost: values.headsUpMax },
  }
}

/** An empty key is none, as with the original. A value alone is refused: it would be heard as "all namespaces". */
function optInOf({ optInLabelKey: key, optInLabelValue: value }: LeasesValues): LeaseSettings['optIn'] {
  if (key) {
    const problem = optInProblem({ key, value })
    if (problem !== undefined) throw canNotStart(`${problem}; correct --opt-in-label-key and --opt-in-label-value.`)
    return { key, value }
  }
  if (!value) return undefined
  throw canNotStart(
    '--opt-in-label-value says nothing without --opt-in-label-key; name the label, or leave both out to manage all namespaces.',
  )
}

function canNotStart(why: string): TenureError {
  return new TenureError('TENURE_CONFIGURATION_INVALID', `tenure leases can not start: ${why}`)
}

export function leasedKind({ group, version, kind }: LeasesValues): GroupVersionKind {
  return { group, version, kind }
}

/** The Lease for which the replicas that keep a kind's leases stand, as the original names it. */
export function leaderName({ group, version, kind }: GroupVersionKind): string {
  return ['object-lease-controller', group, version, kind].filter(Boolean).join('-').toLowerCase()
}

/** Both, or the first alone if the second is to be the same. */
export function leaseFamilies(values: Values<typeof familiesTable>): readonly LeaseFamily[] {
  const seed = { ...SEED_FAMILY, prefix: prefixOf('--prefix', values.prefix) }
  const newer = { ...NEWER_FAMILY, prefix: prefixOf('--newer-prefix', values.newerPrefix) }
  return seed.prefix === newer.prefix ? [seed] : [seed, newer]
}

/** The flags that make another process read the same. */
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

/** With its slash. No annotation could begin with anything but a DNS name: nothing would be leased, without a word. */
function prefixOf(flag: string, text: string): string {
  const domain = text.replace(/\/$/, '')
  if (isDnsName(domain)) return `${domain}/`
  throw new TenureError(
    'TENURE_CONFIGURATION_INVALID',
    `${flag} must be a DNS name such as ${SEED_FAMILY.prefix}, not ${JSON.stringify(text)}.`,
  )
}
