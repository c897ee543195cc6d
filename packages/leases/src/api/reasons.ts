/** Reasons of the Events about leased objects. */
export const EVENT_REASONS = {
  started: 'LeaseStarted',
  expiring: 'LeaseExpiring',
  expired: 'LeaseExpired',
  cleaned: 'LeaseAnnotationsCleaned',
  startReset: 'LeaseStartReset',
  invalidTtl: 'InvalidTTL',
  /** The API server refuses what the lease controller writes, for example because the annotations are full. */
  rejected: 'LeaseRejected',
  jobCreated: 'CleanupJobCreated',
  jobCompleted: 'CleanupJobCompleted',
  jobInvalid: 'CleanupJobConfigInvalid',
  jobTimeout: 'CleanupJobTimeout',
  jobFailed: 'CleanupJobFailed',
} as const
