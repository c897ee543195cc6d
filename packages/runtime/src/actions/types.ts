import type { Kind, KubeObject, ObjectRef, PartialObjectMetadata, Patch, Propagation, Stored } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { EventNote } from './recorder.ts'

/** Keep an object as described, by server-side apply. */
export interface ApplyAction {
  readonly type: 'apply'
  readonly kind: Kind
  readonly object: KubeObject
  readonly force: boolean
  readonly adopt?: AdoptionCheck
}

/**
 * Decides about an object that has the name of a child and does not belong to the controller's object: the error to
 * fail with, or undefined to go on: an apply takes the object over, a create leaves it as it is. Pure.
 */
export type AdoptionCheck = (existing: Stored<PartialObjectMetadata>) => Error | undefined

/** Create an object unless one of that name exists; an existing one stays as it is. */
export interface CreateAction {
  readonly type: 'create'
  readonly kind: Kind
  readonly object: KubeObject
  readonly adopt?: AdoptionCheck
  /** The error to report instead of the API server's. */
  readonly describeFailure?: (error: unknown) => unknown
  /** Carried out after it, only if this action created the object. */
  readonly afterwards?: Actions
}

/** Delete an object, if it is still the one that the plan saw. */
export interface RemoveAction {
  readonly type: 'remove'
  readonly kind: Kind
  readonly ref: ObjectRef
  /** Only this one, not another under the same name. Unset: the one in the cache. */
  readonly uid?: string
  /** Only in this state. Unset: in any. */
  readonly resourceVersion?: string
  readonly propagation?: Propagation
  /** Carried out after it, only if this action deleted the object. */
  readonly afterwards?: Actions
}

/** Change some fields of an object, and leave all others. An object that is gone is left alone. */
export interface PatchAction {
  readonly type: 'patch'
  readonly kind: Kind
  readonly ref: ObjectRef
  readonly patch: Patch
  /** Carried out after it, only if this action changed the object. */
  readonly afterwards?: Actions
}

/** Read the controller's object from the API server, then plan again with it and with the server's time. */
export interface ReadLiveAction {
  readonly type: 'read-live'
}

/** Keep the status of the controller's object as described. */
export interface StatusAction<S = unknown> {
  readonly type: 'status'
  readonly status: S
}

/** Record an Event about the controller's object. */
export interface EventAction extends EventNote {
  readonly type: 'event'
  readonly eventType: 'Normal' | 'Warning'
}

/** Reconcile the object again, even if nothing changes. The earliest of several counts. */
export type RequeueAction =
  | { readonly type: 'requeue'; readonly at: number }
  | { readonly type: 'requeue'; readonly after: number }

/** An effect outside Kubernetes. It may run again after a crash, so it must be idempotent. */
export interface CallAction {
  readonly type: 'call'
  readonly name: string
  readonly effect: CallEffect
}

export interface CallContext {
  /** Aborts when the reconcile runs out of time or the controller stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Asks for another reconcile, this many milliseconds from now. */
  requeueAfter(milliseconds: number): void
}

export type CallEffect = (context: CallContext) => void | Promise<void>

/** Add a finalizer to the controller's object, or remove it. The controller does this itself for its `finalizer`. */
export interface FinalizerAction {
  readonly type: 'finalizer'
  readonly name: string
  readonly present: boolean
}

/** The type of a kind's status; unknown if it names none. */
export type StatusOf<T extends KubeObject> = T extends { readonly status?: infer S } ? S : unknown

/** One step, as data: returned by a plan for objects of type `T`, carried out by the controller. */
export type Action<T extends KubeObject = KubeObject> =
  | ApplyAction
  | CreateAction
  | RemoveAction
  | PatchAction
  | ReadLiveAction
  | StatusAction<StatusOf<T>>
  | EventAction
  | RequeueAction
  | CallAction
  | FinalizerAction

/** Result of a plan. Empty entries are skipped, so that `condition && action` may be in the list. */
export type Actions<T extends KubeObject = KubeObject> = readonly (Action<T> | false | null | undefined)[]
