export { type ActionRunContext, ActionRunner, type ActionRunnerOptions } from './action-runner.ts'
export {
  apply,
  type ApplyActionOptions,
  call,
  create,
  type CreateActionOptions,
  event,
  patch,
  type PatchActionOptions,
  readLive,
  remove,
  type RemoveActionOptions,
  requeueAfter,
  requeueAt,
  status,
} from './actions.ts'
export { getCondition, isTrue, type NewCondition, setCondition } from './conditions.ts'
export { describeAction } from './describe-action.ts'
export { isNamespaceTerminating } from './namespace-terminating.ts'
export type { EventContent, EventNote, Recorder } from './recorder.ts'
export { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts'
export type { ActionStep, StepHook } from './context.ts'
export type {
  Action,
  Actions,
  AdoptionCheck,
  ApplyAction,
  CallAction,
  CallContext,
  CallEffect,
  CreateAction,
  EventAction,
  FinalizerAction,
  PatchAction,
  ReadLiveAction,
  RemoveAction,
  RequeueAction,
  StatusAction,
  StatusOf,
} from './types.ts'
