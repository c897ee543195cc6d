import type { Clock, Kind, KubeApi, KubeObject, Stored } from '@tenure/kube'
import type { Cache } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { AppliedRecords } from './applied-records.ts'
import type { Obstacles } from './name-conflicts.ts'
import type { Recorder } from './recorder.ts'
import type { Action } from './types.ts'

/** A kind that the controller declared, and where its objects are cached. */
export interface DeclaredKind {
  /** In the form in which it is cached. */
  readonly kind: Kind
  readonly cache: Cache<KubeObject>
  /** Its objects belong to the controller's: they get an owner reference. */
  readonly owned: boolean
}

/** One step of a run, told before it is taken and after: a test may throw or wait there, as if the process died or hung. */
export type ActionStep = {
  readonly controller: string
  readonly key: string
  /** Place in the list of actions. */
  readonly index: number
  readonly action: Action
} & (
  | { readonly phase: 'before' }
  | { readonly phase: 'after'; readonly outcome: 'done' | 'skipped' }
  | { readonly phase: 'after'; readonly outcome: 'failed'; readonly error: unknown }
)

export type StepHook = (step: ActionStep) => void | Promise<void>

/** What carrying out actions needs, the same for all objects of a controller. */
export interface Surroundings {
  readonly controller: string
  readonly api: KubeApi
  readonly clock: Clock
  readonly fieldManager: string
  readonly records: AppliedRecords
  readonly obstacles: Obstacles
  /** Default: events are dropped. */
  readonly recorder?: Recorder | undefined
  /** Default: nobody looks on. */
  readonly onStep?: StepHook | undefined
  declared(kind: Kind): DeclaredKind | undefined
}

/** One object's turn. */
export interface Turn {
  readonly key: string
  readonly kind: Kind
  /** The controller's object, as last seen. */
  object: Stored<KubeObject>
  /** Aborts when time is up or the controller stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** The earliest time, on the wall clock, at which the object is to be looked at again. */
  requeueAt: number | undefined
  /** What it is at, for the log if that fails. */
  current: Action | undefined
}
