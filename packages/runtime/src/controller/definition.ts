import { type Kind, type KubeObject, type ObjectRef, type Selection, type Stored, TenureError } from '@tenure/kube'
import type { Actions, CallContext, Recorder, StatusOf } from '../actions/index.ts'
import type { Cache } from '../informer/types.ts'
import type { Backoff } from '../queue/index.ts'
import type { PlanContext, ReconcileContext, StatusContext } from './context.ts'
import type { ReconcileResult } from './controller-metrics.ts'

/** The values under which an index holds an object. The type of a method, so that a controller of any kind is a controller. */
export type Index<T extends KubeObject> = { of(object: Stored<T>): readonly string[] }['of']

/** A kind whose objects belong to the controller's, by owner reference. */
export interface OwnedKind {
  readonly kind: Kind
  /** Which of them to watch. Default: all. */
  readonly selection?: Selection
}

/** Kinds of an object's children that only the object tells. */
export interface NamedKinds<T extends KubeObject> {
  /** The kinds of this object's children. Pure, and called before every plan: cheap. */
  of(object: Stored<T>): readonly Kind[]
  /** Which objects of these kinds to watch. Default: all. */
  readonly selection?: Selection
}

/** Maps a changed object of another kind to the controller's objects that it concerns. */
export type Mapping<C extends KubeObject = KubeObject, T extends KubeObject = KubeObject> = (
  object: Stored<C>,
  /** The cache of the controller's objects. */
  primaries: Cache<T>,
) => Iterable<ObjectRef>

/** A kind whose changes concern objects of type `T` in a way that only the controller knows. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly kind: Kind
  readonly selection: Selection | undefined
  readonly indexes: Readonly<Record<string, Index<KubeObject>>>
  map(object: Stored<KubeObject>, primaries: Cache<T>): Iterable<ObjectRef>
}

export interface WatchedKindOptions<C extends KubeObject> {
  /** Which of them to watch. Default: all. */
  readonly selection?: Selection
  /** More indexes for reads of this kind. Default: none. */
  readonly indexes?: Readonly<Record<string, Index<C>>>
}

/** Watches another kind: `watch(Secret, byIndex('secret'))`, or with a function that names the objects concerned. */
export function watch<C extends KubeObject, T extends KubeObject = KubeObject>(
  kind: Kind<C>,
  map: Mapping<NoInfer<C>, T>,
  options: WatchedKindOptions<NoInfer<C>> = {},
): Watch<T> {
  // An informer of a kind delivers objects of that kind.
  const { selection, indexes = {} } = options as WatchedKindOptions<KubeObject>
  return { kind, selection, indexes, map: map as Mapping<KubeObject, T> }
}

/** How one reconcile ended. */
export interface ReconcileOutcome {
  /** `namespace/name` of the object. */
  readonly key: string
  readonly result: ReconcileResult
  readonly seconds: number
  /** The error, also if it is expected (a conflict) and only retried; undefined if the reconcile succeeded. */
  readonly error: Error | undefined
}

export interface ControllerOptions<T extends KubeObject> {
  /** Names the controller in logs and metrics. Default: the kind in lower case. */
  readonly name?: string
  /** Kinds whose objects belong to this one's: watched, and given an owner reference when applied. Default: none. */
  readonly owns?: readonly (Kind | OwnedKind)[]
  /**
   * Kinds of children that only the object names: owned like those in `owns`, and watched from the first object on that
   * names them. While a cache of such a kind is not filled, an object that names the kind is neither planned nor
   * reported, but it expires. Default: none.
   */
  readonly ownedKinds?: NamedKinds<T>
  /** Other kinds whose changes matter. Default: none. */
  readonly watches?: readonly Watch<T>[]
  /** Which objects to control. Default: all. */
  readonly selection?: Selection
  /** Indexes of the controlled objects, for mappings and reads. Default: none. */
  readonly indexes?: Readonly<Record<string, Index<T>>>
  /**
   * Whether a controlled object that appeared (`old` is undefined) or changed needs a reconcile. Default: always, so
   * that a status that another writer changed is restored; the controller's own status write is never a change. See
   * `specOrMetadataChanged`.
   */
  predicate?(object: Stored<T>, old: Stored<T> | undefined): boolean
  /** Added to every object before anything is done for it, removed after `cleanup` was carried out. Default: none. */
  readonly finalizer?: string
  /** Decides what to change. Pure: no I/O, no clock but `now`, no randomness. */
  plan?(context: PlanContext<T>): Actions<T>
  /**
   * Describes the status, after the plan's actions or after one of them failed (`failure`). Pure. Written only if it
   * differs; undefined writes none. For Events that belong to a change of the status, or to delay its write, return
   * actions instead: `[status(next), event(…)]`.
   */
  status?(context: StatusContext<T>): StatusOf<T> | Actions<T> | undefined
  /**
   * When an object expires: milliseconds since 1970, or undefined for never. Pure. When the time has come, the
   * controller reads the object again and, if it is due by its own clock and by the API server's, calls `expire` instead of `plan`.
   */
  expiresAt?(object: Stored<T>): number | undefined
  /**
   * Decides what to do with an object that expired, as it was read just now. Pure. A `remove` of that object holds for
   * exactly that state: a change in the meantime wins. Default: remove it.
   */
  expire?(context: PlanContext<T>): Actions<T>
  /** For work that does not fit a plan. The actions it returns are carried out after it. */
  reconcile?(context: ReconcileContext<T>): Actions<T> | undefined | Promise<Actions<T> | undefined | void>
  /**
   * Decides what to do before an object with the finalizer may go. The finalizer is removed once all of it has
   * succeeded, unless a requeue is among it.
   */
  cleanup?(context: ReconcileContext<T>): Actions<T> | Promise<Actions<T>>
  /** Called after an object is gone. Only for what this process remembers: work that must not be missed needs a finalizer. */
  deleted?(ref: ObjectRef, context: CallContext): void | Promise<void>
  /** Objects reconciled at once; one object never twice. Default 4. */
  readonly concurrency?: number
  /** Milliseconds after which the reconcile of one object is aborted and retried. Default 60,000. */
  readonly reconcileTimeout?: number
  /** Waits between retries of one object. Default: 5 ms, doubling, up to 1000 s. */
  readonly backoff?: Backoff
  /**
   * Retry errors whose fate is terminal, too: a quota, a policy or an object of another owner may change without this
   * object changing. Default false: wait for a change of the object.
   */
  readonly retryTerminal?: boolean
  /** Milliseconds between reconciles of all objects although nothing changed. Default: never. */
  readonly resync?: number
  /** Receives its Events. Default: the operator's recorder. */
  readonly recorder?: Recorder | undefined
  /** Called after each reconcile, for metrics of the operator's own: cheap, and never throwing. Default: none. */
  readonly onReconciled?: ((outcome: ReconcileOutcome) => void) | undefined
}

/** A controller as data. An operator returns it from `setup`. */
export interface ControllerDefinition<T extends KubeObject = KubeObject> extends ControllerOptions<T> {
  readonly kind: Kind<T>
  readonly name: string
}

/** Describes a controller of the objects of a kind. */
export function controller<T extends KubeObject>(
  kind: Kind<T>,
  options: ControllerOptions<NoInfer<T>>,
): ControllerDefinition<T> {
  const name = options.name ?? kind.kind.toLowerCase()
  const refuse = (problem: string): never => {
    throw new TenureError('TENURE_CONTROLLER_INVALID', `The controller ${name} ${problem}`)
  }
  const { expiresAt, plan, reconcile, status } = options
  if (plan && reconcile) refuse('has a plan and a reconcile function: keep one of them.')
  if (reconcile && status) refuse('has a reconcile and a status function: let reconcile return status(…).')
  if (!plan && !reconcile && !status && !expiresAt) refuse('does nothing: add a plan.')
  if (options.expire && !expiresAt) refuse('has an expire function but no expiresAt, so nothing ever expires.')
  if (options.finalizer !== undefined && options.cleanup === undefined) {
    refuse(`has the finalizer ${options.finalizer} but no cleanup function: add one.`)
  }
  if (options.cleanup !== undefined && options.finalizer === undefined) {
    refuse('has a cleanup function but no finalizer, so nothing would wait for it: add one.')
  }
  if (options.concurrency !== undefined && !(options.concurrency >= 1)) refuse('needs a concurrency of at least 1.')
  for (const owned of options.owns ?? []) {
    const child = ownedKind(owned).kind
    if (!canOwn(kind, child)) {
      refuse(
        `cannot own ${child.kind}: it is cluster-scoped and ${kind.kind} is not. Watch it, and remove it in cleanup.`,
      )
    }
  }
  return { ...options, kind, name }
}

export function ownedKind(owned: Kind | OwnedKind): OwnedKind {
  return 'plural' in owned ? { kind: owned } : owned
}

/** False: the API server ignores a reference from a cluster-scoped object to an owner in a namespace. */
export function canOwn(owner: Kind, child: Kind): boolean {
  return child.namespaced || !owner.namespaced
}
