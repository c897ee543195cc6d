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
import type { Action, Actions } from '../actions/index.ts'
import type { Turn } from '../actions/context.ts'
import { OWNER_UID_INDEX } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { ReconcileContext, Reads } from './context.ts'
import type { DeclaredKinds } from './declared-kinds.ts'

/** What all turns of a controller share. */
export interface TurnSurroundings {
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
  /** Aborts when the controller stops and will wait no longer. */
  readonly stopping: AbortSignal
}

/** Work on one key, once. Most turns find nothing to do, so what only some need is made when it is asked for. */
export class Attempt {
  readonly key: string
  readonly started: number
  requeueAt: number | undefined
  current: Action | undefined
  protected readonly around: TurnSurroundings
  #log: Logger | undefined
  #deadline: { readonly signal: AbortSignal; dispose(): void } | undefined
  #timedOut = false

  constructor(around: TurnSurroundings, key: string, started: number) {
    this.around = around
    this.key = key
    this.started = started
  }

  get log(): Logger {
    if (this.#log === undefined) {
      const { controller, kind, random, log } = this.around
      this.#log = log.child({ controller, kind: kind.kind, ...refOf(this.key), reconcileId: reconcileId(random) })
    }
    return this.#log
  }

  get signal(): AbortSignal {
    if (this.#deadline === undefined) {
      const { clock, stopping, timeout } = this.around
      const left = this.started + timeout - clock.monotonic()
      this.#deadline = withTimeout(clock, left, () => this.#timeout(), stopping)
    }
    return this.#deadline.signal
  }

  get timedOut(): boolean {
    return this.#timedOut
  }

  /** No more is to come: the timer goes. */
  end(): void {
    this.#deadline?.dispose()
  }

  #timeout(): Error {
    this.#timedOut = true
    return timeoutError(this.around)
  }
}

/** Work on one object: what a plan sees, and what carrying out its actions needs. */
export class ObjectTurn extends Attempt implements Turn, ReconcileContext<KubeObject> {
  object: Stored<KubeObject>

  constructor(around: TurnSurroundings, key: string, object: Stored<KubeObject>, started: number) {
    super(around, key, started)
    this.object = object
  }

  get kind(): Kind {
    return this.around.kind
  }

  get api(): KubeApi {
    return this.around.api
  }

  get now(): number {
    return this.around.clock.now()
  }

  get owned(): Reads['owned'] {
    const { kinds } = this.around
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
    const { kinds } = this.around
    const { namespace } = this.object.metadata
    return <C extends KubeObject>(kind: Kind<C>, ref: ObjectRef | string) => {
      const where =
        typeof ref === 'string' ? (kind.namespaced && namespace ? { name: ref, namespace } : { name: ref }) : ref
      return kinds.readable(kind).cache.get(where) as Stored<C> | undefined
    }
  }

  get list(): Reads['list'] {
    const { kinds } = this.around
    return <C extends KubeObject>(kind: Kind<C>, namespace?: string) =>
      kinds.readable(kind).cache.list(namespace) as readonly Stored<C>[]
  }

  get byIndex(): Reads['byIndex'] {
    const { kinds } = this.around
    return <C extends KubeObject>(kind: Kind<C>, index: string, value: string) =>
      kinds.readable(kind).cache.byIndex(index, value) as readonly Stored<C>[]
  }

  get act(): ReconcileContext<KubeObject>['act'] {
    return async (actions: Actions) => await this.around.executor.execute(actions, this)
  }
}

/** A reconcile that ran out of time, also as the cause of whatever that broke. */
export function timeoutError(around: TurnSurroundings, during?: string, cause?: unknown): TenureError {
  const what = during === undefined ? '' : ` during "${during}"`
  return new TenureError(
    'TENURE_RECONCILE_TIMEOUT',
    `The work on one ${around.kind.kind} was aborted after ${around.timeout} ms${what}. It is tried again; if that is how long it takes, raise reconcileTimeout.`,
    { fate: 'retry', cause },
  )
}

function isOwnedBy(object: KubeObject | undefined, uid: string): boolean {
  return object?.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false
}

function reconcileId(random: Random): string {
  return Buffer.from(random.bytes(8)).toString('hex')
}
