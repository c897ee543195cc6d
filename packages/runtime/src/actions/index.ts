export {
  apply,
  type ApplyActionOptions,
  call,
  create,
  event,
  remove,
  type RemoveActionOptions,
  requeueAfter,
  requeueAt,
  status,
} from './actions.ts'
export { getCondition, isTrue, type NewCondition, rfc3339, setCondition } from './conditions.ts'
export { describeAction } from './describe-action.ts'
export { isNamespaceEnding } from './namespace-terminating.ts'
export type { EventContent, EventNote, Recorder } from './recorder.ts'
export { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts'
export type { ActionStep, StepHook } from './context.ts'
export type {
  Action,
  Actions,
  ApplyAction,
  CallAction,
  CallContext,
  CallEffect,
  CreateAction,
  EventAction,
  FinalizerAction,
  RemoveAction,
  RequeueAction,
  StatusAction,
  StatusOf,
} from './types.ts'
