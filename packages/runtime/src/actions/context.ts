import type { Clock, Kind, KubeApi, KubeObject, Stored } from '@tenure/kube'
import type { Cache } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { AppliedRecords } from './applied-records.ts'
import type { NameConflicts } from './name-conflicts.ts'
import type { Recorder } from './recorder.ts'
import type { StatusEchoes } from './status-echoes.ts'
import type { Action } from './types.ts'

/** A kind that the controller declared, and the cache of its objects. */
export interface DeclaredKind {
  /** In the representation in which it is cached. */
  readonly kind: Kind
  readonly cache: Cache<KubeObject>
  /** Its objects belong to the controller's objects: they get an owner reference. */
  readonly owned: boolean
}

/** One step of a reconcile, reported before and after it. A test may throw or wait there, as if the process died or hung. */
export type ActionStep = {
  readonly controller: string
  readonly key: string
  /** Position in the list of actions. */
  readonly index: number
  readonly action: Action
} & (
  | { readonly phase: 'before' }
  | { readonly phase: 'after'; readonly outcome: 'done' | 'skipped' }
  | { readonly phase: 'after'; readonly outcome: 'failed'; readonly error: unknown }
)

export type StepHook = (step: ActionStep) => void | Promise<void>

/** Dependencies of the executor: the same for all objects of a controller. */
export interface ExecutorContext {
  readonly controller: string
  readonly api: KubeApi
  readonly clock: Clock
  readonly fieldManager: string
  readonly records: AppliedRecords
  readonly nameConflicts: NameConflicts
  readonly statusEchoes: StatusEchoes
  /** Default: Events are dropped. */
  readonly recorder?: Recorder | undefined
  /** Default: none. */
  readonly onStep?: StepHook | undefined
  declared(kind: Kind): DeclaredKind | undefined
  /** Another writer changed the object while the controller wrote its status. */
  onMissedChange(key: string): void
}

/** One reconcile of one object. */
export interface Reconcile {
  readonly key: string
  readonly kind: Kind
  /** The controller's object, as last seen. Writes of the reconcile itself update it. */
  object: Stored<KubeObject>
  /** The object was read from the API server for this reconcile: deleting it requires that it is still in that state. */
  readonly isLive: boolean
  /** Aborts when the reconcile times out or the controller stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** The earliest time, on the wall clock, of the next reconcile of this object. */
  requeueAt: number | undefined
  /** The action under way, for the log if it fails. */
  current: Action | undefined
}
