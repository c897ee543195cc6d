import type { Propagation } from '@tenure/kube'

/** The names of one family of annotations: the seed's, or those that the original took later. */
export interface LeaseFamily {
  /** With its slash: `object-lease-controller.ullberg.us/`. */
  readonly prefix: string
  /** What the start of a lease is called. */
  readonly start: 'extended-at' | 'lease-start'
}

/** The seed's family. */
export const SEED_FAMILY: LeaseFamily = { prefix: 'object-lease-controller.ullberg.us/', start: 'extended-at' }
/** The family of the original's later versions. */
export const NEWER_FAMILY: LeaseFamily = { prefix: 'object-lease-controller.ullberg.io/', start: 'lease-start' }

/** What users write, after the prefix. The start of a lease is named by its family. */
export const USER_ANNOTATIONS = {
  ttl: 'ttl',
  /** An absolute time or date, instead of `ttl`. */
  expires: 'expires',
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

/** What we answer, after the prefix. Never to be written by anybody else. */
export const STATUS_ANNOTATIONS = {
  expireAt: 'expire-at',
  status: 'lease-status',
  /**
   * Seed family only: says that the lease runs from `extended-at`, so that its removal, which starts the lease anew,
   * can be told from a lease that runs from the object's creation.
   */
  basis: 'lease-basis',
  /** What became of the cleanup job of this expiry, as JSON. */
  cleanup: 'cleanup-job-record',
} as const

/** Annotations of cleanup jobs, after the prefix. None is called as an answer is: jobs may be leased, too. */
export const JOB_ANNOTATIONS = {
  /** What it was made for, as JSON. */
  source: 'cleanup-job-source',
} as const

export const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan']
