export * from './admission/index.ts'
export * from './api.ts'
export { readJobConfig, type JobConfig, type JobConfigReading } from './cleanup/job-config.ts'
export * from './cli/index.ts'
export {
  leaderName,
  leasedKind,
  familiesTable,
  leaseFamilies,
  leasesConfiguration,
  leaseSettings,
  type LeasesValues,
} from './config.ts'
export { createLeaseKeeper, type LeaseKeeper, type LeaseKeeperOptions } from './keeper.ts'
export { kindFinder, type KindFinder } from './kind-finder.ts'
export * from './lease-controller/index.ts'
export { leasesOperator, type LeasesOperatorOptions } from './operator.ts'
export { type Changes, type DatedLease, type LeasePlan, planLease } from './plan.ts'
export { formatTime, parseTime, parseTimeOrDate } from './time.ts'
export { formatTtl, LONGEST_TTL, parseTtl, type Ttl } from './ttl.ts'
