import type { Kind, KubeApi, KubeObject, ObjectRef, Stored } from '@tenure/kube'
import type { Actions } from '../actions/index.ts'
import type { Logger } from '../log/logger.ts'

/** Reads of the caches of the kinds that the controller declared. What they return is shared: never change it. */
export interface Reads {
  /** The objects of a kind that belong to the controller's object. */
  owned<C extends KubeObject>(kind: Kind<C>): readonly Stored<C>[]
  /** The one of that name, if it is there and belongs to the controller's object. */
  owned<C extends KubeObject>(kind: Kind<C>, name: string): Stored<C> | undefined
  /** Any object of a declared kind; by name alone, in the namespace of the controller's object. */
  read<C extends KubeObject>(kind: Kind<C>, ref: ObjectRef | string): Stored<C> | undefined
  /** All objects of a declared kind, or those of one namespace. */
  list<C extends KubeObject>(kind: Kind<C>, namespace?: string): readonly Stored<C>[]
  /** Those that an index has filed under a value. */
  byIndex<C extends KubeObject>(kind: Kind<C>, index: string, value: string): readonly Stored<C>[]
}

/** What a plan sees. */
export interface PlanContext<T extends KubeObject> extends Readonly<Reads> {
  /** The controller's object: it is there, and it is not being deleted. */
  readonly object: Stored<T>
  /** Milliseconds since 1970. */
  readonly now: number
  /** Adds the controller, the object and the id of this reconcile to every line. */
  readonly log: Logger
}

/** What an imperative reconcile has besides. */
export interface ReconcileContext<T extends KubeObject> extends PlanContext<T> {
  readonly api: KubeApi
  /** Aborts when time is up or the controller stops. Give it to whatever waits. */
  readonly signal: AbortSignal
  /** Carries out actions now. */
  act(actions: Actions<T>): Promise<void>
}
