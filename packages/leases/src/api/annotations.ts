import type { Propagation } from '@tenure/kube'

/** One family of annotation names: the seed's, or the one that the original later renamed them to. */
export interface LeaseFamily {
  /** With its slash: `object-lease-controller.ullberg.us/`. */
  readonly prefix: string
  /** The annotation that holds the start of a lease, without the prefix. */
  readonly start: 'extended-at' | 'lease-start'
}

/** The seed's family. */
export const SEED_FAMILY: LeaseFamily = { prefix: 'object-lease-controller.ullberg.us/', start: 'extended-at' }
/** The family of the original's later versions. */
export const NEWER_FAMILY: LeaseFamily = { prefix: 'object-lease-controller.ullberg.io/', start: 'lease-start' }

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
