export * from './admission/index.ts'
export * from './api/annotations.ts'
export * from './api/labels.ts'
export * from './api/reasons.ts'
export * from './api/types.ts'
export { readJobConfig, type JobConfig, type JobConfigReading } from './controllers/lease/cleanup/job-config.ts'
export * from './cli/index.ts'
export {
  cleanupConfig,
  familiesConfig,
  leaderName,
  leaseControllersConfig,
  type LeaseControllersSettings,
  leaseFamilies,
  leasesConfig,
  leasesConfiguration,
  leaseSettings,
  type LeasesSettings,
  reportLease,
} from './config.ts'
export {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from './controllers/lease/kind-controller.ts'
export { leaseControllerDefinition } from './api/crd.ts'
export {
  LEASE_CONTROLLER_GROUP,
  type AllowedResources,
  LeaseController,
  type LeaseControllerMode,
  type LeaseControllerSpec,
  type LeaseControllerStatus,
  type LeasedKindName,
  type LeasedResource,
} from './api/lease-controller.ts'
export { defaultLeaseControllers, type DefaultLeaseController } from './controllers/lease-controller/defaults.ts'
export {
  LEASE_OPERATOR,
  LEASE_WEBHOOK_SECRET,
  type LeaseAdmissionRules,
  leaseAdmissionRules,
  type LeaseOperatorRulesOptions,
  leaseOperatorRules,
} from './rbac.ts'
export { leases } from './kind-operator.ts'
export { leaseControllers, leaseControllersParts } from './operator.ts'
export { type LeasePlan, planLease } from './controllers/lease/plan.ts'
export type { Changes } from './controllers/lease/status.ts'
export type { DatedLease } from './controllers/lease/terms.ts'
export { formatTime, parseTime, parseTimeOrDate } from './api/time.ts'
export { formatTtl, MAX_TTL_MS, parseTtl, type Ttl } from './api/ttl.ts'
