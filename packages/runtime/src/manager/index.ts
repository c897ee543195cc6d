export type { Component, ComponentDefinition, ManagerContext, OperatorContext, Stage } from './component.ts'
export { runOperators } from './manager.ts'
export type {
  LeaderElectionOptions,
  OperatorServer,
  RunningOperator,
  RunOperatorsOptions,
  WebhookRegistrar,
} from './options.ts'
