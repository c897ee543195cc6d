export {
  LEASE_CONTROLLER_GROUP,
  LeaseController,
  type LeaseControllerMode,
  type LeaseControllerSpec,
  type LeaseControllerStatus,
  type LeasedKindName,
  type LeasedResource,
} from './api.ts'
export { leaseControllersOptions, leaseControllersTable } from './config.ts'
export { leaseControllerDefinition } from './crd.ts'
export { dedicatedLeasesOperator, type DedicatedLeasesOptions, reportLease } from './dedicated.ts'
export { dailyLeaseControllers, type DefaultLeaseController } from './defaults.ts'
export { type LeaseOperatorRights, leaseOperatorRules } from './operator-rights.ts'
export { leaseControllersOperator, type LeaseControllersOptions } from './operator.ts'
