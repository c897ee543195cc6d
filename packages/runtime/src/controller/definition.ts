import { type Kind, type KubeObject, type ObjectRef, type Selection, type Stored, TenureError } from '@tenure/kube'
import type { Actions, CallContext, Recorder } from '../actions/index.ts'
import type { Cache } from '../informer/types.ts'
import type { Backoff } from '../queue/index.ts'
import type { PlanContext, ReconcileContext } from './context.ts'
import type { ReconcileResult } from './controller-metrics.ts'

/** The values under which an index files an object; of a method's type, so that a controller of any kind is a controller. */
export type Index<T extends KubeObject> = { of(object: Stored<T>): readonly string[] }['of']

/** A kind whose objects belong to the controller's, by owner reference. */
export interface OwnedKind {
  readonly kind: Kind
  /** Which of them to watch. Default: all. */
  readonly selection?: Selection
}

/** Which objects of the controller a change of another object concerns. */
export type Mapping<C extends KubeObject = KubeObject> = (
  object: Stored<C>,
  /** The controller's objects. */
  primaries: Cache<KubeObject>,
) => Iterable<ObjectRef>

/** A kind whose changes concern the controller's objects in a way that only the controller knows. */
export interface Watch {
  readonly kind: Kind
  readonly selection: Selection | undefined
  readonly indexes: Readonly<Record<string, Index<KubeObject>>>
  map(object: Stored<KubeObject>, primaries: Cache<KubeObject>): Iterable<ObjectRef>
}

export interface WatchedKindOptions<C extends KubeObject> {
  /** Which of them to watch. Default: all. */
  readonly selection?: Selection
  /** More indexes for reads of this kind. Default: none. */
  readonly indexes?: Readonly<Record<string, Index<C>>>
}

/** Watches another kind: `watch(Secret, byIndex('secret'))`, or with a function that names the objects concerned. */
export function watch<C extends KubeObject>(
  kind: Kind<C>,
  map: Mapping<NoInfer<C>>,
  options: WatchedKindOptions<NoInfer<C>> = {},
): Watch {
  // What comes from the informer of a kind is of that kind.
  const { selection, indexes = {} } = options as WatchedKindOptions<KubeObject>
  return { kind, selection, indexes, map: map as Mapping }
}

/** One look at one object, when it is over. */
export interface ReconcileOutcome {
  readonly result: ReconcileResult
  readonly seconds: number
}

export interface ControllerOptions<T extends KubeObject> {
  /** Names the controller in logs and metrics. Default: the kind in lower case. */
  readonly name?: string
  /** Kinds whose objects belong to this one's: watched, and given an owner reference when applied. Default: none. */
  readonly owns?: readonly (Kind | OwnedKind)[]
  /** Other kinds that matter. Default: none. */
  readonly watches?: readonly Watch[]
  /** Which objects to control. Default: all. */
  readonly selection?: Selection
  /** Indexes of the controlled objects, for mappings. Default: none. */
  readonly indexes?: Readonly<Record<string, Index<T>>>
  /**
   * Which changes of a controlled object count. Default: all, so that a status that somebody else has changed is put
   * right; the controller's own write then costs one more look, which finds nothing to do. See `changeOfSpecOrMetadata`.
   */
  changed?(old: Stored<T>, object: Stored<T>): boolean
  /** Goes on every object before anything is done for it, and stays until `cleanup` has been carried out. Default: none. */
  readonly finalizer?: string
  /** Says what is to be done for an object, from what is seen of it: no I/O, no clock but `now`, no randomness. */
  plan?(context: PlanContext<T>): Actions<T>
  /** Does what does not fit a plan. The actions it returns are carried out after it. */
  reconcile?(context: ReconcileContext<T>): Actions<T> | undefined | Promise<Actions<T> | undefined | void>
  /**
   * Says what is to be done before an object with our finalizer may go. The finalizer is taken off once all of it
   * has succeeded, unless a requeue is among it.
   */
  cleanup?(context: ReconcileContext<T>): Actions<T> | Promise<Actions<T>>
  /** Told that an object is gone. Only for what this process remembers: what must not be missed needs a finalizer. */
  deleted?(ref: ObjectRef, context: CallContext): void | Promise<void>
  /** Objects worked on at once; one object never twice. Default 4. */
  readonly concurrency?: number
  /** Milliseconds after which the work on one object is aborted and tried again later. Default 60,000. */
  readonly reconcileTimeout?: number
  /** Waits between retries of one object. Default: 5 ms, doubling, up to 1000 s. */
  readonly backoff?: Backoff
  /** Milliseconds between looks at all objects although nothing changed. Default: never. */
  readonly resync?: number
  /** Where its events go. Default: where those of the manager go. */
  readonly recorder?: Recorder | undefined
  /** Told how each reconcile ended, for metrics of the operator's own: cheap, and never throwing. Default: nobody. */
  readonly onReconciled?: ((outcome: ReconcileOutcome) => void) | undefined
}

/** A controller as data: run it with a ControllerRunner, or through a manager. */
export interface ControllerDefinition<T extends KubeObject = KubeObject> extends ControllerOptions<T> {
  readonly kind: Kind<T>
  readonly name: string
}

/** Describes a controller of the objects of a kind. */
export function controller<T extends KubeObject>(
  kind: Kind<T>,
  options: ControllerOptions<T>,
): ControllerDefinition<T> {
  const name = options.name ?? kind.kind.toLowerCase()
  const refuse = (problem: string): never => {
    throw new TenureError('TENURE_CONTROLLER_INVALID', `The controller ${name} ${problem}`)
  }
  if ((options.plan === undefined) === (options.reconcile === undefined)) {
    refuse('needs either a plan or a reconcile function, not both.')
  }
  if (options.finalizer !== undefined && options.cleanup === undefined) {
    refuse(`has the finalizer ${options.finalizer} and nothing to do about it: give it a cleanup function.`)
  }
  if (options.cleanup !== undefined && options.finalizer === undefined) {
    refuse('has a cleanup function that nothing would wait for: give it a finalizer.')
  }
  if (options.concurrency !== undefined && !(options.concurrency >= 1)) refuse('needs a concurrency of at least 1.')
  for (const owned of options.owns ?? []) {
    const child = ownedKind(owned).kind
    if (kind.namespaced && !child.namespaced) {
      refuse(
        `can not own ${child.kind}: it is cluster-scoped and ${kind.kind} is not. Watch it, and remove it in cleanup.`,
      )
    }
  }
  return { ...options, kind, name }
}

export function ownedKind(owned: Kind | OwnedKind): OwnedKind {
  return 'plural' in owned ? { kind: owned } : owned
}
