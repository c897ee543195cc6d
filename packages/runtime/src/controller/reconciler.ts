import { refOf } from '@tenure/kube'
import type { Executor } from '../actions/executor.ts'
import { type Action, type Actions, hasFinalizer } from '../actions/index.ts'
import type { ControllerDefinition } from './definition.ts'
import { Attempt, ObjectTurn, type TurnSurroundings } from './reconcile.ts'

/** What one look at one object does: nothing if it is gone, clean up if it is going, else plan and act. */
export class Reconciler {
  readonly #definition: ControllerDefinition
  readonly #around: TurnSurroundings
  readonly #executor: Executor
  /** Objects that were deleted and whose `deleted` hook has not been called yet. */
  readonly #deleted = new Set<string>()

  constructor(definition: ControllerDefinition, around: TurnSurroundings) {
    this.#definition = definition
    this.#around = around
    this.#executor = around.executor
  }

  /** The object of that key was deleted: its next turn begins with the `deleted` hook. */
  noteDeleted(key: string): void {
    if (this.#definition.deleted) this.#deleted.add(key)
  }

  begin(key: string, started: number): Attempt {
    const object = this.#around.kinds.primary.cache.getByKey(key)
    return object ? new ObjectTurn(this.#around, key, object, started) : new Attempt(this.#around, key, started)
  }

  /** Throws, rejects, or ends. Without anything to wait for it ends without a promise. */
  run(attempt: Attempt): Promise<void> | undefined {
    if (this.#deleted.has(attempt.key)) return this.#afterDeletion(attempt)
    return attempt instanceof ObjectTurn ? this.#turn(attempt) : undefined
  }

  async #afterDeletion(attempt: Attempt): Promise<void> {
    const { key } = attempt
    // Taken off before the call: another object of that name may come and go while it runs, and has a call of its own.
    this.#deleted.delete(key)
    try {
      await this.#definition.deleted?.(refOf(key), attempt)
    } catch (error) {
      this.#deleted.add(key)
      throw error
    }
    if (attempt instanceof ObjectTurn) await this.#turn(attempt)
  }

  #turn(turn: ObjectTurn): Promise<void> | undefined {
    const { finalizer, plan } = this.#definition
    const { object } = turn
    const isHeld = finalizer !== undefined && hasFinalizer(object, finalizer)
    if (object.metadata.deletionTimestamp) return isHeld ? this.#cleanUp(turn, finalizer) : undefined
    const hold = finalizer !== undefined && !isHeld && finalizerAction(finalizer, true)
    if (plan === undefined) return this.#imperative(turn, hold)
    const actions = this.#definition.plan?.(turn) ?? []
    if (actions.length === 0 && !hold) return undefined
    // The finalizer comes first: what is done for an object must never outlive it unseen.
    return this.#executor.execute(hold ? [hold, ...actions] : actions, turn)
  }

  async #imperative(turn: ObjectTurn, hold: Action | false): Promise<void> {
    if (hold) await this.#executor.execute([hold], turn)
    const actions = await this.#definition.reconcile?.(turn)
    if (actions) await this.#executor.execute(actions, turn)
  }

  async #cleanUp(turn: ObjectTurn, finalizer: string): Promise<void> {
    const actions: Actions = (await this.#definition.cleanup?.(turn)) ?? []
    const comesBack = turn.requeueAt !== undefined || actions.some((action) => action && action.type === 'requeue')
    // Last in the list: a step that fails before it leaves the finalizer where it is.
    await this.#executor.execute([...actions, !comesBack && finalizerAction(finalizer, false)], turn)
  }
}

function finalizerAction(name: string, present: boolean): Action {
  return { type: 'finalizer', name, present }
}
