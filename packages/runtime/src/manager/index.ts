export type { Component, ComponentDefinition, ManagerContext, OperatorContext, Stage } from './component.ts'
export { runOperators } from './manager.ts'
export type {
  LeaderElectionOptions,
  OperatorServer,
  RunningOperator,
  RunOperatorsOptions,
  WebhookRegistrar,
} from './options.ts'
export { stopSignals, whenAborted, type SignalProcess, type StopSignals, type StopSignalsOptions } from './signals.ts'
