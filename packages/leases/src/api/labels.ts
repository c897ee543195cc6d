/** Labels of cleanup jobs, after the prefix. */
export const JOB_LABELS = {
  isCleanup: 'cleanup-job',
  sourceKind: 'source-kind',
  sourceName: 'source-name',
  sourceUid: 'source-uid',
  /** Which expiry of that object: a hash. */
  expiry: 'expiry',
  /** It stays after its end, until that stands on the object or nobody needs it: its `job-ttl` counts from then on. */
  held: 'held',
} as const
