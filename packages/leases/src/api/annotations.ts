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
export const ANNOTATION = {
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
export const ANSWER = {
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

/** Labels of cleanup jobs, after the prefix. */
export const JOB_LABEL = {
  isCleanup: 'cleanup-job',
  sourceKind: 'source-kind',
  sourceName: 'source-name',
  sourceUid: 'source-uid',
  /** Which expiry of that object: a hash. */
  expiry: 'expiry',
  /** It stays after its end, until that stands on the object or nobody needs it: its `job-ttl` counts from then on. */
  held: 'held',
} as const

/** Annotations of cleanup jobs, after the prefix. None is called as an answer is: jobs may be leased, too. */
export const JOB_ANNOTATION = {
  /** What it was made for, as JSON. */
  source: 'cleanup-job-source',
} as const

export const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan']

/** Reasons of the Events about leased objects. */
export const REASON = {
  started: 'LeaseStarted',
  expiring: 'LeaseExpiring',
  expired: 'LeaseExpired',
  cleaned: 'LeaseAnnotationsCleaned',
  startReset: 'LeaseStartReset',
  invalidTtl: 'InvalidTTL',
  jobCreated: 'CleanupJobCreated',
  jobCompleted: 'CleanupJobCompleted',
  jobInvalid: 'CleanupJobConfigInvalid',
  jobTimeout: 'CleanupJobTimeout',
  jobFailed: 'CleanupJobFailed',
} as const

/** How leases are kept, whatever the kind. */
export interface LeaseSettings {
  /** The families that are read; of an object with several, the first counts. Default: the seed's, then the newer. */
  readonly families: readonly LeaseFamily[]
  /** Dates and statuses are kept, nothing is deleted and no cleanup job is run. Default false. */
  readonly dryRun: boolean
  /** Only namespaces with this label are managed; without a value, any will do. Default: all namespaces. */
  readonly optIn: { readonly key: string; readonly value?: string | undefined } | undefined
  /** How long before its end a lease is announced to end: this fraction of its TTL, and at most so many milliseconds. */
  readonly headsUp: {
    /** Default 0.1. 0: no announcements. */
    readonly fraction: number
    /** Default 3,600,000: an hour. */
    readonly atMost: number
  }
}

export const defaultLeaseSettings: LeaseSettings = {
  families: [SEED_FAMILY, NEWER_FAMILY],
  dryRun: false,
  optIn: undefined,
  headsUp: { fraction: 0.1, atMost: 3_600_000 },
}

/** Names a kind without saying how it is called in URLs. */
export interface GroupVersionKind {
  /** Empty: the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}
