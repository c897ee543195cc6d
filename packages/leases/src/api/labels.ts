/** Labels of cleanup jobs, without the prefix. */
export const JOB_LABELS = {
  isCleanup: 'cleanup-job',
  sourceKind: 'source-kind',
  sourceName: 'source-name',
  sourceUid: 'source-uid',
  /** A hash of the object's uid and the time of expiry. */
  expiry: 'expiry',
  /** The job has no TTL until its result is recorded on the object or is no longer needed; then `job-ttl` starts. */
  held: 'held',
} as const
