import type { Kind, KubeApi, KubeObject, ObjectRef, Stored } from '@tenure/kube'
import type { Actions } from '../actions/index.ts'
import type { Logger } from '../log/logger.ts'

/** Reads of the caches of the kinds that the controller declared. The objects are shared: never change them. */
export interface Reads {
  /** The objects of a kind that belong to the controller's object. */
  owned<C extends KubeObject>(kind: Kind<C>): readonly Stored<C>[]
  /** The one of that name, if it exists and belongs to the controller's object. */
  owned<C extends KubeObject>(kind: Kind<C>, name: string): Stored<C> | undefined
  /** Any object of a declared kind; by name alone, in the namespace of the controller's object. */
  read<C extends KubeObject>(kind: Kind<C>, ref: ObjectRef | string): Stored<C> | undefined
  /** All objects of a declared kind, or those of one namespace. */
  list<C extends KubeObject>(kind: Kind<C>, namespace?: string): readonly Stored<C>[]
  /** The objects that an index holds under a value. */
  byIndex<C extends KubeObject>(kind: Kind<C>, index: string, value: string): readonly Stored<C>[]
}

/** The input of `plan`, `cleanup` and `expire`. */
export interface PlanContext<T extends KubeObject> extends Readonly<Reads> {
  /** The controller's object. */
  readonly object: Stored<T>
  /** Milliseconds since 1970: the process's clock, or the API server's if `isLive`. */
  readonly now: number
  /** The object was read from the API server for this reconcile, by `readLive` or because it expired. */
  readonly isLive: boolean
  /** Reconciles of this object that failed in a row before this one. */
  readonly failures: number
  /** Adds the controller, the object and the id of this reconcile to every line. */
  readonly log: Logger
}

/** The input of `status`. The caches show what the plan's actions wrote. */
export interface StatusContext<T extends KubeObject> extends PlanContext<T> {
  /** The error of the action that failed; undefined if all succeeded. The reconcile is retried after the status is written. */
  readonly failure: Error | undefined
  /** Reconciles of this object that failed in a row, this one included. */
  readonly failures: number
}

/** The input of an imperative `reconcile`. */
export interface ReconcileContext<T extends KubeObject> extends PlanContext<T> {
  readonly api: KubeApi
  /** Aborts when the reconcile times out or the controller stops. Pass it to everything that waits. */
  readonly signal: AbortSignal
  /** Carries out actions now. */
  act(actions: Actions<T>): Promise<void>
}
