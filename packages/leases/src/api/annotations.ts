import type { Propagation } from '@tenure/kube'

/** One family of annotation names: the seed's, or the one that the original later renamed them to. */
export interface LeaseFamily {
  /** With its slash: `object-lease-controller.ullberg.us/`. */
  readonly prefix: string
  /** The annotation that holds the start of a lease, without the prefix. */
  readonly start: 'extended-at' | 'lease-start'
  /** The names with the prefix. Made once: a name that is joined on every event is also hashed on every event. */
  readonly names: FamilyNames
}

type FamilyNames = Readonly<Record<keyof typeof USER_ANNOTATIONS | keyof typeof STATUS_ANNOTATIONS | 'start', string>>

/** Annotations that users write, without the prefix. The start of a lease is named by its family. */
export const USER_ANNOTATIONS = {
  ttl: 'ttl',
  /** An absolute time or date, instead of `ttl`. */
  expires: 'expires',
  /** `update`: a change of the object's generation starts the lease again. */
  renewOn: 'renew-on',
  propagation: 'propagation',
  job: 'on-delete-job',
  jobServiceAccount: 'job-service-account',
  jobImage: 'job-image',
  jobWait: 'job-wait',
  jobTimeout: 'job-timeout',
  jobTtl: 'job-ttl',
  jobBackoffLimit: 'job-backoff-limit',
  jobEnvSecrets: 'job-env-secrets',
  jobOnFailure: 'job-on-failure',
} as const

/** Annotations that only the lease controller writes, without the prefix. */
export const STATUS_ANNOTATIONS = {
  expireAt: 'expire-at',
  status: 'lease-status',
  /**
   * Seed family only: the lease runs from `extended-at`. It tells a removed `extended-at`, which restarts the lease,
   * from a lease that runs from the object's creation.
   */
  basis: 'lease-basis',
  /** With `renew-on: update`: the generation that the lease controller has seen. */
  generation: 'observed-generation',
  /** State of the cleanup job of this expiry, as JSON. */
  cleanup: 'cleanup-job-record',
} as const

/** The family with that prefix, which ends with a slash. */
export function leaseFamily(prefix: string, start: LeaseFamily['start']): LeaseFamily {
  const names = { ...USER_ANNOTATIONS, ...STATUS_ANNOTATIONS, start }
  const withPrefix = Object.entries(names).map(([key, name]) => [key, prefix + name])
  // The entries have the keys of `names`.
  return { prefix, start, names: Object.fromEntries(withPrefix) as FamilyNames }
}

/** The seed's family. */
export const SEED_FAMILY = leaseFamily('object-lease-controller.ullberg.us/', 'extended-at')
/** The family of the original's later versions. */
export const NEWER_FAMILY = leaseFamily('object-lease-controller.ullberg.io/', 'lease-start')

/** Annotations of cleanup jobs, without the prefix. Disjoint from `STATUS_ANNOTATIONS`: jobs may have leases, too. */
export const JOB_ANNOTATIONS = {
  /** The object and the expiry that the job was created for, as JSON. */
  source: 'cleanup-job-source',
} as const

/** Annotations of ServiceAccounts and Secrets, without the prefix. */
export const RESOURCE_ANNOTATIONS = {
  /** `true`: cleanup jobs in the namespace may use it. */
  allowJobs: 'allow-cleanup-jobs',
} as const

export const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan']
