import {
  type Clock,
  type Kind,
  type KubeApi,
  type KubeObject,
  type ObjectRef,
  type Random,
  refOf,
  type Stored,
  TenureError,
  withTimeout,
} from '@tenure/kube'
import type { Executor } from '../actions/executor.ts'
import type { Reconcile } from '../actions/context.ts'
import type { Action, Actions, CallContext } from '../actions/index.ts'
import { OWNER_UID_INDEX } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { ReconcileContext, Reads, StatusContext } from './context.ts'
import type { DeclaredKinds } from './declared-kinds.ts'

/** Dependencies that all reconciles of a controller share. */
export interface ReconcilerContext {
  readonly controller: string
  readonly kind: Kind
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly kinds: DeclaredKinds
  readonly executor: Executor
  /** Milliseconds. */
  readonly timeout: number
  /** Aborts when the controller stops and its grace period is over. */
  readonly stopping: AbortSignal
  /** Failed reconciles of a key in a row. */
  failuresOf(key: string): number
}

/** One reconcile of one key. Most find nothing to do, so the logger and the timeout are made on first use. */
export class ReconcileAttempt implements CallContext {
  readonly key: string
  readonly started: number
  requeueAt: number | undefined
  current: Action | undefined
  protected readonly context: ReconcilerContext
  #log: Logger | undefined
  #deadline: { readonly signal: AbortSignal; dispose(): void } | undefined
  #timedOut = false

  constructor(context: ReconcilerContext, key: string, started: number) {
    this.context = context
    this.key = key
    this.started = started
  }

  get log(): Logger {
    if (this.#log === undefined) {
      const { controller, kind, random, log } = this.context
      this.#log = log.child(() => ({
        controller,
        kind: kind.kind,
        ...refOf(this.key),
        reconcileId: reconcileId(random),
      }))
    }
    return this.#log
  }

  get signal(): AbortSignal {
    if (this.#deadline === undefined) {
      const { clock, stopping, timeout } = this.context
      const left = this.started + timeout - clock.monotonic()
      this.#deadline = withTimeout(clock, left, () => this.#timeout(), stopping)
    }
    return this.#deadline.signal
  }

  get timedOut(): boolean {
    return this.#timedOut
  }

  requeueAfter(milliseconds: number): void {
    this.requeueAt = Math.min(this.context.clock.now() + milliseconds, this.requeueAt ?? Infinity)
  }

  /** Cancels the timeout. */
  end(): void {
    this.#deadline?.dispose()
  }

  #timeout(): Error {
    this.#timedOut = true
    return timeoutError(this.context)
  }
}

/** One reconcile of one object: the input of the controller's functions, and of the executor. */
export class ObjectReconcile
  extends ReconcileAttempt
  implements Reconcile, ReconcileContext<KubeObject>, StatusContext<KubeObject>
{
  object: Stored<KubeObject>
  failure: Error | undefined
  /** A cache of a kind that the object names is not filled, so nothing can be said about the object. */
  isWaiting = false
  /** The API server's time of a live read, by which the object is judged from then on. */
  #serverTime: number | undefined
  #isLive = false

  constructor(context: ReconcilerContext, key: string, object: Stored<KubeObject>, started: number) {
    super(context, key, started)
    this.object = object
  }

  get kind(): Kind {
    return this.context.kind
  }

  get api(): KubeApi {
    return this.context.api
  }

  get now(): number {
    return this.#serverTime ?? this.context.clock.now()
  }

  get isLive(): boolean {
    return this.#isLive
  }

  get failures(): number {
    return this.context.failuresOf(this.key) + (this.failure ? 1 : 0)
  }

  /** Continues with the object as the API server has it, and with the server's time. */
  useLive(object: Stored<KubeObject>, serverTime: number | undefined): void {
    this.object = object
    this.#serverTime = serverTime
    this.#isLive = true
  }

  get owned(): Reads['owned'] {
    const { kinds } = this.context
    const { uid, namespace } = this.object.metadata
    function owned<C extends KubeObject>(kind: Kind<C>): readonly Stored<C>[]
    function owned<C extends KubeObject>(kind: Kind<C>, name: string): Stored<C> | undefined
    function owned<C extends KubeObject>(kind: Kind<C>, name?: string): readonly Stored<C>[] | Stored<C> | undefined {
      const { cache } = kinds.readable(kind)
      if (name === undefined) return cache.byIndex(OWNER_UID_INDEX, uid) as readonly Stored<C>[]
      const found = cache.getByKey(namespace && kind.namespaced ? `${namespace}/${name}` : name)
      return isOwnedBy(found, uid) ? (found as Stored<C>) : undefined
    }
    return owned
  }

  get read(): Reads['read'] {
    const { kinds } = this.context
    const { namespace } = this.object.metadata
    return <C extends KubeObject>(kind: Kind<C>, ref: ObjectRef | string) => {
      const where =
        typeof ref === 'string' ? (kind.namespaced && namespace ? { name: ref, namespace } : { name: ref }) : ref
      return kinds.readable(kind).cache.get(where) as Stored<C> | undefined
    }
  }

  get list(): Reads['list'] {
    const { kinds } = this.context
    return <C extends KubeObject>(kind: Kind<C>, namespace?: string) =>
      kinds.readable(kind).cache.list(namespace) as readonly Stored<C>[]
  }

  get byIndex(): Reads['byIndex'] {
    const { kinds } = this.context
    return <C extends KubeObject>(kind: Kind<C>, index: string, value: string) =>
      kinds.readable(kind).cache.byIndex(index, value) as readonly Stored<C>[]
  }

  get act(): ReconcileContext<KubeObject>['act'] {
    return async (actions: Actions) => await this.context.executor.execute(actions, this)
  }
}

/** A reconcile that timed out; `cause` is what the abort broke. */
export function timeoutError(context: ReconcilerContext, during?: string, cause?: unknown): TenureError {
  const what = during === undefined ? '' : ` during "${during}"`
  return new TenureError(
    'TENURE_RECONCILE_TIMEOUT',
    `The reconcile of one ${context.kind.kind} was aborted after ${context.timeout} ms${what}. It is retried; if it needs that long, raise reconcileTimeout.`,
    { fate: 'retry', cause },
  )
}

function isOwnedBy(object: KubeObject | undefined, uid: string): boolean {
  return object?.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false
}

function reconcileId(random: Random): string {
  return Buffer.from(random.bytes(8)).toString('hex')
}
