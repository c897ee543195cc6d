import { abortReason, isAlreadyExists, isNotFound, keyOf, refTo, TenureError } from '@tenure/kube'
import { desiredObject, refuseIfControlledByAnother, resolveRef } from './desired.ts'
import { hasFinalizer, addFinalizer, removeFinalizer } from './finalizers.ts'
import type { DeclaredKind, ActionStep, Surroundings, Turn } from './context.ts'
import type {
  Action,
  Actions,
  ApplyAction,
  CreateAction,
  FinalizerAction,
  RemoveAction,
  StatusAction,
} from './types.ts'

/** Carries an action out. Gives false if there turned out to be nothing to do. */
type Effect = () => void | boolean | Promise<void | boolean>

/**
 * Carries out actions one by one, in order, one API call each, and stops at the first that fails. What would change
 * nothing is skipped; if that is all of them, it returns without a promise: most reconciles end there.
 */
export class Executor {
  readonly #around: Surroundings

  constructor(surroundings: Surroundings) {
    this.#around = surroundings
  }

  execute(actions: Actions, turn: Turn): Promise<void> | undefined {
    refuseTwoStatuses(actions)
    if (this.#around.onStep) return this.#watched(actions, turn)
    for (let index = 0; index < actions.length; index++) {
      const action = actions[index]
      if (!action) continue
      turn.current = action
      const running = this.#prepare(action, turn)?.()
      if (running instanceof Promise) return this.#rest(running, actions, index + 1, turn)
    }
    turn.current = undefined
    return undefined
  }

  async #rest(first: Promise<void | boolean>, actions: Actions, start: number, turn: Turn): Promise<void> {
    await first
    for (let index = start; index < actions.length; index++) {
      const action = actions[index]
      if (!action) continue
      turn.current = action
      const effect = this.#prepare(action, turn)
      if (effect === undefined) continue
      if (turn.signal.aborted) throw abortReason(turn.signal)
      await effect()
    }
    turn.current = undefined
  }

  /** The same, with somebody looking on at every step. */
  async #watched(actions: Actions, turn: Turn): Promise<void> {
    const { controller, onStep } = this.#around
    for (const [index, action] of actions.entries()) {
      if (!action) continue
      turn.current = action
      const about = { controller, key: turn.key, index, action }
      const tell = async (step: ActionStep): Promise<void> => await onStep?.(step)
      try {
        const effect = this.#prepare(action, turn)
        if (effect) {
          await tell({ ...about, phase: 'before' })
          if (turn.signal.aborted) throw abortReason(turn.signal)
        }
        const done = effect !== undefined && (await effect()) !== false
        await tell({ ...about, phase: 'after', outcome: done ? 'done' : 'skipped' })
      } catch (error) {
        await tell({ ...about, phase: 'after', outcome: 'failed', error })
        throw error
      }
    }
    turn.current = undefined
  }

  /** What is to be done for an action; undefined if nothing is. */
  #prepare(action: Action, turn: Turn): Effect | undefined {
    switch (action.type) {
      case 'apply':
        return this.#apply(action, turn)
      case 'create':
        return this.#create(action, turn)
      case 'remove':
        return this.#remove(action, turn)
      case 'status':
        return this.#status(action, turn)
      case 'finalizer':
        return this.#finalizer(action, turn)
      case 'event':
        return () => {
          const { type: _, eventType, ...note } = action
          this.#around.recorder?.record(turn.object, { type: eventType, ...note })
        }
      case 'call':
        return () => action.effect({ signal: turn.signal, log: turn.log })
      default:
        return () => {
          const at = 'at' in action ? action.at : this.#around.clock.now() + action.after
          turn.requeueAt = Math.min(at, turn.requeueAt ?? Infinity)
        }
    }
  }

  #apply(action: ApplyAction, turn: Turn): Effect | undefined {
    const { api, fieldManager, obstacles, records } = this.#around
    const { kind, force } = action
    const declared = this.#declared(action)
    const desired = desiredObject(action, turn, declared)
    const key = keyOf(refTo(desired))
    const live = declared.cache.getByKey(key)
    if (live && declared.owned) {
      refuseIfControlledByAnother(live, turn, kind, obstacles)
      // It can not be saved. When it is gone, that is a change, and it is made anew.
      if (live.metadata.deletionTimestamp) return undefined
    }
    if (live && records.isUnchanged(declared.kind, key, '', desired, live)) return undefined
    return async () => {
      const answer = await api.apply(kind, desired, { force, fieldManager, signal: turn.signal })
      records.applied(declared.kind, key, '', desired, answer)
      turn.log.debug('applied', { kind: kind.kind, name: key })
    }
  }

  #create(action: CreateAction, turn: Turn): Effect | undefined {
    const { api, fieldManager, obstacles } = this.#around
    const { kind } = action
    const declared = this.#around.declared(kind)
    const desired = desiredObject(action, turn, declared)
    if (desired.metadata?.name !== undefined) {
      const live = declared?.cache.getByKey(keyOf(refTo(desired)))
      if (live && declared?.owned) refuseIfControlledByAnother(live, turn, kind, obstacles)
      if (live) return undefined
    }
    return async () => {
      try {
        const { metadata } = await api.create(kind, desired, { fieldManager, signal: turn.signal })
        turn.log.debug('created', { kind: kind.kind, name: keyOf(metadata) })
        return true
      } catch (error) {
        if (!isAlreadyExists(error) || desired.metadata?.name === undefined) throw error
        // An earlier attempt whose answer was lost, or somebody else's: only a look can tell.
        if (declared?.owned) {
          const there = await api.get(kind, refTo(desired), { signal: turn.signal })
          refuseIfControlledByAnother(there, turn, kind, obstacles)
        }
        return false
      }
    }
  }

  #remove(action: RemoveAction, turn: Turn): Effect | undefined {
    const { api } = this.#around
    const { kind, propagation, resourceVersion } = action
    const ref = resolveRef(action.ref, kind.namespaced, turn)
    const declared = this.#around.declared(kind)
    const live = declared?.cache.get(ref)
    // Gone, going, or another under the same name.
    if (declared && (!live || (action.uid ?? live.metadata.uid) !== live.metadata.uid)) return undefined
    if (live?.metadata.deletionTimestamp) return undefined
    const uid = action.uid ?? live?.metadata.uid
    return async () => {
      try {
        await api.delete(kind, ref, {
          ...((uid ?? resourceVersion) !== undefined && { preconditions: { uid, resourceVersion } }),
          ...(propagation && { propagation }),
          signal: turn.signal,
        })
        turn.log.debug('removed', { kind: kind.kind, name: keyOf(ref) })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    }
  }

  #status(action: StatusAction, turn: Turn): Effect | undefined {
    const { api, fieldManager, records } = this.#around
    const { apiVersion, kind } = turn.kind
    const { name, namespace } = turn.object.metadata
    const metadata = namespace ? { name, namespace } : { name }
    const desired = { apiVersion, kind, metadata, status: action.status }
    if (records.isUnchanged(turn.kind, turn.key, 'status', desired, turn.object)) return undefined
    return async () => {
      const options = { subresource: 'status', force: true, fieldManager, signal: turn.signal } as const
      const answer = await api.apply(turn.kind, desired, options)
      records.applied(turn.kind, turn.key, 'status', desired, answer)
      turn.object = answer
      turn.log.debug('status written')
    }
  }

  #finalizer(action: FinalizerAction, turn: Turn): Effect | undefined {
    const { api, fieldManager } = this.#around
    if (hasFinalizer(turn.object, action.name) === action.present) return undefined
    return async () => {
      const change = action.present ? addFinalizer : removeFinalizer
      const options = { fieldManager, signal: turn.signal }
      turn.object = (await change(api, turn.kind, turn.object, action.name, options)) ?? turn.object
      turn.log.debug(action.present ? 'finalizer added' : 'finalizer removed')
    }
  }

  #declared(action: ApplyAction): DeclaredKind {
    const declared = this.#around.declared(action.kind)
    if (declared) return declared
    const { kind } = action.kind
    throw new TenureError(
      'TENURE_KIND_UNDECLARED',
      `The controller ${this.#around.controller} applies a ${kind} but does not watch that kind, so it can not tell whether ` +
        `one has changed. Add ${kind} to its owns or watches.`,
      { fate: 'bug' },
    )
  }
}

function refuseTwoStatuses(actions: Actions): void {
  let statuses = 0
  for (const action of actions) if (action && action.type === 'status' && ++statuses > 1) break
  if (statuses < 2) return
  throw new TenureError(
    'TENURE_PLAN_TWO_STATUSES',
    'A plan returned two status actions. Each describes the status whole, so they would undo each other: return one.',
    { fate: 'bug' },
  )
}
