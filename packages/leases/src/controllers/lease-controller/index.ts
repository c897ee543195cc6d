export {
  LEASE_CONTROLLER_GROUP,
  LeaseController,
  type LeaseControllerMode,
  type LeaseControllerSpec,
  type LeaseControllerStatus,
  type LeasedKindName,
  type LeasedResource,
} from '../../api/lease-controller.ts'
export { leaseControllerDefinition } from '../../api/crd.ts'
export { dedicatedLeasesOperator, type DedicatedLeasesOptions, reportLease } from './dedicated.ts'
export { defaultLeaseControllers, type DefaultLeaseController } from './defaults.ts'
export { leaseControllersOperator, type LeaseControllersOptions } from './operator.ts'
