export type { PlanContext, Reads, ReconcileContext, StatusContext } from './context.ts'
export type { ReconcileResult } from './controller-metrics.ts'
export {
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  type Index,
  type Mapping,
  type NamedKinds,
  type OwnedKind,
  type ReconcileOutcome,
  watch,
  type Watch,
  type WatchedKindOptions,
} from './definition.ts'
export { byIndex, byLabel, byOwner } from './mapping.ts'
export { specOrMetadataChanged } from './predicates.ts'
export { ControllerRunner, type ControllerRunnerOptions, type StopOptions } from './runner.ts'
