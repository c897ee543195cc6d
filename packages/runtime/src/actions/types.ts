import type { Kind, KubeObject, ObjectRef, Propagation } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { EventNote } from './recorder.ts'

/** Keep an object as described, by server-side apply. */
export interface ApplyAction {
  readonly type: 'apply'
  readonly kind: Kind
  readonly object: KubeObject
  readonly force: boolean
}

/** Make an object that is not there; one that is there is left as it is. */
export interface CreateAction {
  readonly type: 'create'
  readonly kind: Kind
  readonly object: KubeObject
}

/** Delete an object, if it is still the one that was meant. */
export interface RemoveAction {
  readonly type: 'remove'
  readonly kind: Kind
  readonly ref: ObjectRef
  /** Only this one, not another under the same name. Unset: the one in the cache. */
  readonly uid?: string
  /** Only in this state. Unset: in any. */
  readonly resourceVersion?: string
  readonly propagation?: Propagation
}

/** Keep the status of the controller's object as described. */
export interface StatusAction<S = unknown> {
  readonly type: 'status'
  readonly status: S
}

/** Tell people, through an Event about the controller's object. */
export interface EventAction extends EventNote {
  readonly type: 'event'
  readonly eventType: 'Normal' | 'Warning'
}

/** Look at the object again, also if nothing changes. The earliest of several counts. */
export type RequeueAction =
  | { readonly type: 'requeue'; readonly at: number }
  | { readonly type: 'requeue'; readonly after: number }

/** Do something outside Kubernetes. It may be done again after a crash, so it must not matter if it is. */
export interface CallAction {
  readonly type: 'call'
  readonly name: string
  readonly effect: CallEffect
}

export interface CallContext {
  /** Aborts when the reconcile runs out of time or the controller stops. */
  readonly signal: AbortSignal
  readonly log: Logger
}

export type CallEffect = (context: CallContext) => void | Promise<void>

/** Put a finalizer on the controller's object, or take it off. The controller does this itself for its `finalizer`. */
export interface FinalizerAction {
  readonly type: 'finalizer'
  readonly name: string
  readonly present: boolean
}

/** The type of a kind's status; unknown if it names none. */
export type StatusOf<T extends KubeObject> = T extends { readonly status?: infer S } ? S : unknown

/** One thing to do, as data. Made by a plan for objects of type `T`, carried out by the controller. */
export type Action<T extends KubeObject = KubeObject> =
  | ApplyAction
  | CreateAction
  | RemoveAction
  | StatusAction<StatusOf<T>>
  | EventAction
  | RequeueAction
  | CallAction
  | FinalizerAction

/** What a plan returns. Holes are left out, so that `condition && action` can stand in the list. */
export type Actions<T extends KubeObject = KubeObject> = readonly (Action<T> | false | null | undefined)[]
