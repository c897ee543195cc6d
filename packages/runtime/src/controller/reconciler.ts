import { ApiError, asError, isConflict, isNotFound, refOf, TenureError } from '@tenure/kube'
import type { Executor } from '../actions/executor.ts'
import { type Action, type Actions, hasFinalizer, isNamespaceTerminating, status } from '../actions/index.ts'
import type { ControllerDefinition } from './definition.ts'
import type { DynamicKinds } from './dynamic-kinds.ts'
import type { Expirer } from './expirer.ts'
import { ObjectReconcile, ReconcileAttempt, type ReconcilerContext } from './reconcile.ts'

export interface ReconcilerParts {
  /** Undefined: the objects do not expire. */
  readonly expirer: Expirer | undefined
  /** Undefined: the definition declares all kinds. */
  readonly dynamicKinds: DynamicKinds | undefined
}

/** One reconcile: nothing for an object that is gone, cleanup for one that is terminating, else plan, act, report. */
export class Reconciler {
  readonly #definition: ControllerDefinition
  readonly #context: ReconcilerContext
  readonly #executor: Executor
  readonly #expirer: Expirer | undefined
  readonly #dynamicKinds: DynamicKinds | undefined
  /** Objects that were deleted and whose `deleted` hook was not called yet. */
  readonly #deleted = new Set<string>()

  constructor(definition: ControllerDefinition, context: ReconcilerContext, parts: ReconcilerParts) {
    this.#definition = definition
    this.#context = context
    this.#executor = context.executor
    this.#expirer = parts.expirer
    this.#dynamicKinds = parts.dynamicKinds
  }

  /** The object of that key was deleted: its next reconcile begins with the `deleted` hook. */
  noteDeleted(key: string): void {
    if (this.#definition.deleted) this.#deleted.add(key)
  }

  begin(key: string, started: number): ReconcileAttempt {
    const object = this.#context.kinds.primary.cache.getByKey(key)
    return object
      ? new ObjectReconcile(this.#context, key, object, started)
      : new ReconcileAttempt(this.#context, key, started)
  }

  /** Throws, rejects, or ends. If there is nothing to wait for it returns no promise. */
  run(attempt: ReconcileAttempt): Promise<void> | undefined {
    if (this.#deleted.has(attempt.key)) return this.#afterDeletion(attempt)
    return attempt instanceof ObjectReconcile ? this.#reconcile(attempt) : undefined
  }

  async #afterDeletion(attempt: ReconcileAttempt): Promise<void> {
    const { key } = attempt
    // Removed before the call: another object of that name may come and go while it runs, and gets its own call.
    this.#deleted.delete(key)
    try {
      await this.#definition.deleted?.(refOf(key), attempt)
    } catch (error) {
      this.#deleted.add(key)
      throw error
    }
    if (attempt instanceof ObjectReconcile) await this.#reconcile(attempt)
  }

  #reconcile(reconcile: ObjectReconcile): Promise<void> | undefined {
    const { finalizer } = this.#definition
    const { object } = reconcile
    const isHeld = finalizer !== undefined && hasFinalizer(object, finalizer)
    if (object.metadata.deletionTimestamp) {
      return isHeld && this.#isReady(reconcile) ? this.#cleanUp(reconcile, finalizer) : undefined
    }
    if (this.#expirer?.isDue(reconcile)) {
      this.#dynamicKinds?.declareForExpiry(reconcile)
      return this.#expirer.hasWork(reconcile) ? this.#expire(this.#expirer, reconcile) : undefined
    }
    if (!this.#isReady(reconcile)) return undefined
    const hold = finalizer !== undefined && !isHeld && finalizerAction(finalizer, true)
    if (this.#definition.reconcile) return this.#imperative(reconcile, hold)
    return this.#reported(reconcile, () => this.#planned(reconcile, hold))
  }

  /** False: the object is reconciled again when the caches of the kinds that it names are filled. */
  #isReady(reconcile: ObjectReconcile): boolean {
    reconcile.isWaiting = this.#dynamicKinds?.isReady(reconcile) === false
    return !reconcile.isWaiting
  }

  #planned(reconcile: ObjectReconcile, hold: Action | false): Promise<void> | undefined {
    const actions = this.#definition.plan?.(reconcile) ?? []
    if (actions.length === 0 && !hold) return undefined
    if (actions.length === 1 && actions[0] && actions[0].type === 'read-live') return this.#planLive(reconcile, hold)
    // The finalizer comes first: nothing that is done for an object may outlive it unnoticed.
    return this.#executor.execute(hold ? [hold, ...actions] : actions, reconcile)
  }

  async #planLive(reconcile: ObjectReconcile, hold: Action | false): Promise<void> {
    const { api, kind } = this.#context
    try {
      const { object, serverTime } = await api.getLive(kind, refOf(reconcile.key), { signal: reconcile.signal })
      reconcile.useLive(object, serverTime)
    } catch (error) {
      // The watch brings the deletion.
      if (isNotFound(error)) return
      throw error
    }
    if (!this.#isReady(reconcile)) return
    const actions = this.#definition.plan?.(reconcile) ?? []
    await this.#executor.execute(hold ? [hold, ...actions] : actions, reconcile)
  }

  async #expire(expirer: Expirer, reconcile: ObjectReconcile): Promise<void> {
    const actions = await expirer.read(reconcile)
    if (actions) await this.#executor.execute(actions, reconcile)
  }

  async #imperative(reconcile: ObjectReconcile, hold: Action | false): Promise<void> {
    if (hold) await this.#executor.execute([hold], reconcile)
    const actions = await this.#definition.reconcile?.(reconcile)
    if (actions) await this.#executor.execute(actions, reconcile)
  }

  #cleanUp(reconcile: ObjectReconcile, finalizer: string): Promise<void> | undefined {
    const clean = async (): Promise<void> => {
      const actions: Actions = (await this.#definition.cleanup?.(reconcile)) ?? []
      await this.#executor.execute(actions, reconcile)
      if (reconcile.requeueAt !== undefined) return
      await this.#executor.execute([finalizerAction(finalizer, false)], reconcile)
    }
    // A terminating object reports failures only: its status is about to go.
    return this.#failuresReported(reconcile, clean())
  }

  /** Does `work`, then writes the status; also if the work failed, and then the failure is thrown on. */
  #reported(reconcile: ObjectReconcile, work: () => Promise<void> | undefined): Promise<void> | undefined {
    if (!this.#definition.status) return work()
    let running: Promise<void> | undefined
    try {
      running = work()
    } catch (error) {
      running = Promise.reject(asError(error))
    }
    return running ? this.#thenReported(reconcile, running) : this.#report(reconcile)
  }

  async #thenReported(reconcile: ObjectReconcile, running: Promise<void>): Promise<void> {
    await this.#failuresReported(reconcile, running)
    if (!reconcile.isWaiting) await this.#report(reconcile)
  }

  async #failuresReported(reconcile: ObjectReconcile, running: Promise<void>): Promise<void> {
    try {
      await running
    } catch (error) {
      if (this.#definition.status && isReportable(error, reconcile.signal)) {
        reconcile.failure = asError(error)
        const { current } = reconcile
        try {
          await this.#report(reconcile)
        } catch (second) {
          reconcile.log.warn('failure not written to the status', { error: asError(second) })
        }
        reconcile.current = current
      }
      throw error
    }
  }

  #report(reconcile: ObjectReconcile): Promise<void> | undefined {
    const reported = this.#definition.status?.(reconcile)
    if (reported === undefined) return undefined
    return this.#executor.execute(isActions(reported) ? reported : [status(reported as object)], reconcile)
  }
}

function isActions(reported: unknown): reported is Actions {
  return Array.isArray(reported)
}

function finalizerAction(name: string, present: boolean): Action {
  return { type: 'finalizer', name, present }
}

/** Whether an error belongs into the status: not a race that a retry heals, nor the end of this process or its term. */
function isReportable(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || isConflict(error) || isNamespaceTerminating(error)) return false
  return error instanceof ApiError || !(error instanceof TenureError && error.code === 'TENURE_ELECTION_NOT_LEADER')
}
