import {
  abortReason,
  isAlreadyExists,
  isNotFound,
  isSameResource,
  keyOf,
  metadataOf,
  type PartialObjectMetadata,
  refTo,
  type Stored,
  TenureError,
} from '@tenure/kube'
import type { ActionStep, DeclaredKind, ExecutorContext, Reconcile } from './context.ts'
import { desiredObject, refuseIfControlledByAnother, resolveRef } from './desired.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts'
import type {
  Action,
  Actions,
  ApplyAction,
  CreateAction,
  FinalizerAction,
  PatchAction,
  RemoveAction,
  StatusAction,
} from './types.ts'

/** Carries out one action. False: there was nothing to do. */
type Effect = () => void | boolean | Promise<void | boolean>

/**
 * Carries out actions one by one, in order, and stops at the first that fails. Actions that would change nothing are
 * skipped; if all are, `execute` returns no promise: most reconciles end there.
 */
export class Executor {
  readonly #context: ExecutorContext

  constructor(context: ExecutorContext) {
    this.#context = context
  }

  execute(actions: Actions, reconcile: Reconcile): Promise<void> | undefined {
    refuseTwoStatuses(actions)
    if (this.#context.onStep) return this.#observed(actions, reconcile)
    for (let index = 0; index < actions.length; index++) {
      const action = actions[index]
      if (!action) continue
      reconcile.current = action
      const running = this.#start(action, actions, index, reconcile)
      if (running instanceof Promise) return this.#rest(running, actions, index + 1, reconcile)
    }
    reconcile.current = undefined
    return undefined
  }

  /** The actions that would write something now, without carrying them out. */
  pending(actions: Actions, reconcile: Reconcile): readonly Action[] {
    return actions.filter(
      (action): action is Action => !!action && isWrite(action) && this.#prepare(action, reconcile) !== undefined,
    )
  }

  async #rest(first: Promise<void | boolean>, actions: Actions, start: number, reconcile: Reconcile): Promise<void> {
    await first
    for (let index = start; index < actions.length; index++) {
      const action = actions[index]
      if (!action) continue
      reconcile.current = action
      if (isAdoption(action)) await this.#checkAdoptions(actions, index, reconcile)
      const effect = this.#prepare(action, reconcile)
      if (effect === undefined) continue
      if (reconcile.signal.aborted) throw abortReason(reconcile.signal)
      await this.#finish(action, await effect(), reconcile)
    }
    reconcile.current = undefined
  }

  #start(
    action: Action,
    actions: Actions,
    index: number,
    reconcile: Reconcile,
  ): Promise<void | boolean> | void | boolean {
    if (isAdoption(action)) {
      const checking = this.#checkAdoptions(actions, index, reconcile)
      if (checking) return checking.then(() => this.#prepare(action, reconcile)?.())
    }
    const running = this.#prepare(action, reconcile)?.()
    if (!(running instanceof Promise) || !('afterwards' in action)) return running
    return running.then((done) => this.#finish(action, done, reconcile))
  }

  /** Carries out what an action brings along, if the action itself did something. */
  async #finish(action: Action, done: void | boolean, reconcile: Reconcile): Promise<void> {
    if (done === false || !('afterwards' in action) || !action.afterwards) return
    await this.execute(action.afterwards, reconcile)
  }

  /**
   * Asks about every child of this plan that is about to be created, before the first one is: a plan whose last child
   * must not be created creates none. Undefined: there is nothing to ask.
   */
  #checkAdoptions(actions: Actions, from: number, reconcile: Reconcile): Promise<unknown> | undefined {
    const checked = actions.slice(0, from).some((action) => action && isAdoption(action))
    if (checked) return undefined
    const checks: Promise<void>[] = []
    for (const action of actions) {
      const check = action && isAdoption(action) ? this.#adoptionCheck(action, reconcile) : undefined
      if (check) checks.push(check())
    }
    return checks.length > 0 ? Promise.all(checks) : undefined
  }

  #adoptionCheck(action: ApplyAction, reconcile: Reconcile): (() => Promise<void>) | undefined {
    const { kind, adopt } = action
    const declared = this.#declared(action)
    const ref = refTo(desiredObject(action, reconcile, declared))
    if (isOwn(declared.cache.get(ref), reconcile)) return undefined
    return async () => {
      // From the server's own cache: an object created in this very moment is a race that no read can win.
      const options = { resourceVersion: '0', signal: reconcile.signal }
      const existing = await orUndefined(this.#context.api.get(metadataOf(kind), ref, options))
      const error = existing && !isOwn(existing, reconcile) ? adopt?.(existing) : undefined
      if (error) throw error
    }
  }

  /** The same, with every step reported to `onStep`. */
  async #observed(actions: Actions, reconcile: Reconcile): Promise<void> {
    const { controller, onStep } = this.#context
    for (const [index, action] of actions.entries()) {
      if (!action) continue
      reconcile.current = action
      const about = { controller, key: reconcile.key, index, action }
      const report = async (step: ActionStep): Promise<void> => await onStep?.(step)
      try {
        if (isAdoption(action)) await this.#checkAdoptions(actions, index, reconcile)
        const effect = this.#prepare(action, reconcile)
        if (effect) {
          await report({ ...about, phase: 'before' })
          if (reconcile.signal.aborted) throw abortReason(reconcile.signal)
        }
        const done = effect !== undefined && (await effect()) !== false
        await report({ ...about, phase: 'after', outcome: done ? 'done' : 'skipped' })
        await this.#finish(action, done, reconcile)
      } catch (error) {
        await report({ ...about, phase: 'after', outcome: 'failed', error })
        throw error
      }
    }
    reconcile.current = undefined
  }

  /** The effect of an action; undefined if it would change nothing. */
  #prepare(action: Action, reconcile: Reconcile): Effect | undefined {
    switch (action.type) {
      case 'apply':
        return this.#apply(action, reconcile)
      case 'create':
        return this.#create(action, reconcile)
      case 'remove':
        return this.#remove(action, reconcile)
      case 'patch':
        return this.#patch(action, reconcile)
      case 'read-live':
        throw new TenureError(
          'TENURE_PLAN_READ_LIVE',
          'A plan returned readLive() together with other actions, or twice. Return it alone, and only while isLive is false.',
          { fate: 'bug' },
        )
      case 'status':
        return this.#status(action, reconcile)
      case 'finalizer':
        return this.#finalizer(action, reconcile)
      case 'event':
        return () => {
          const { type: _, eventType, ...note } = action
          this.#context.recorder?.record(reconcile.object, { type: eventType, ...note })
        }
      case 'call':
        return () =>
          action.effect({
            signal: reconcile.signal,
            log: reconcile.log,
            requeueAfter: (milliseconds) => this.#requeue(this.#context.clock.now() + milliseconds, reconcile),
          })
      default:
        return () => this.#requeue('at' in action ? action.at : this.#context.clock.now() + action.after, reconcile)
    }
  }

  #requeue(at: number, reconcile: Reconcile): void {
    reconcile.requeueAt = Math.min(at, reconcile.requeueAt ?? Infinity)
  }

  #apply(action: ApplyAction, reconcile: Reconcile): Effect | undefined {
    const { api, fieldManager, nameConflicts, records } = this.#context
    const { kind, force } = action
    const declared = this.#declared(action)
    const desired = desiredObject(action, reconcile, declared)
    const key = keyOf(refTo(desired))
    const live = declared.cache.getByKey(key)
    if (live && declared.owned) {
      refuseIfControlledByAnother(live, reconcile, kind, nameConflicts)
      // A terminating object cannot be kept. Its deletion is a change, and the next reconcile creates it again.
      if (live.metadata.deletionTimestamp) return undefined
    }
    if (live && records.isUnchanged(declared.kind, key, '', desired, live)) return undefined
    return async () => {
      const stored = await api.apply(kind, desired, { force, fieldManager, signal: reconcile.signal })
      records.applied(declared.kind, key, '', desired, stored)
      reconcile.log.debug('applied', { kind: kind.kind, name: key })
    }
  }

  #create(action: CreateAction, reconcile: Reconcile): Effect | undefined {
    const { api, fieldManager, nameConflicts } = this.#context
    const { adopt, describeFailure, kind } = action
    const declared = this.#context.declared(kind)
    const desired = desiredObject(action, reconcile, declared)
    const check = (existing: Stored<PartialObjectMetadata>): void => {
      const error = isOwn(existing, reconcile) ? undefined : adopt?.(existing)
      if (error) {
        // When the object goes, the one that is being reconciled is queued again.
        nameConflicts.note(kind, keyOf(refTo(existing)), reconcile.key)
        throw error
      }
      if (declared?.owned) refuseIfControlledByAnother(existing, reconcile, kind, nameConflicts)
    }
    if (desired.metadata?.name !== undefined) {
      const live = declared?.cache.getByKey(keyOf(refTo(desired)))
      if (live) check(live)
      if (live) return undefined
    }
    return async () => {
      try {
        const { metadata } = await api.create(kind, desired, { fieldManager, signal: reconcile.signal })
        reconcile.log.debug('created', { kind: kind.kind, name: keyOf(metadata) })
        return true
      } catch (error) {
        if (!isAlreadyExists(error) || desired.metadata?.name === undefined) throw describeFailure?.(error) ?? error
        // The answer to an earlier attempt was lost, or another writer created it: only a read can tell.
        if (declared?.owned || adopt) {
          check(await api.get(metadataOf(kind), refTo(desired), { signal: reconcile.signal }))
        }
        return false
      }
    }
  }

  #remove(action: RemoveAction, reconcile: Reconcile): Effect | undefined {
    const { api } = this.#context
    const { kind, propagation } = action
    const ref = resolveRef(action.ref, kind.namespaced, reconcile)
    const isSelf = isSameResource(kind, reconcile.kind) && keyOf(ref) === reconcile.key
    const { resourceVersion } = isSelf && reconcile.isLive ? reconcile.object.metadata : action
    const declared = this.#context.declared(kind)
    const live = declared?.cache.get(ref)
    // Gone, or another object of the same name.
    if (declared && (!live || (action.uid ?? live.metadata.uid) !== live.metadata.uid)) return undefined
    if (live?.metadata.deletionTimestamp) return undefined
    const uid = action.uid ?? live?.metadata.uid
    return async () => {
      try {
        await api.delete(kind, ref, {
          ...((uid ?? resourceVersion) !== undefined && { preconditions: { uid, resourceVersion } }),
          ...(propagation && { propagation }),
          signal: reconcile.signal,
        })
        reconcile.log.debug('removed', { kind: kind.kind, name: keyOf(ref) })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    }
  }

  #patch(action: PatchAction, reconcile: Reconcile): Effect {
    const { api, fieldManager } = this.#context
    const { kind, patch, ref } = action
    return async () => {
      const stored = await orUndefined(api.patch(kind, ref, patch, { fieldManager, signal: reconcile.signal }))
      if (!stored) return false
      if (isSameResource(kind, reconcile.kind) && keyOf(ref) === reconcile.key) reconcile.object = stored
      reconcile.log.debug('patched', { kind: kind.kind, name: keyOf(ref) })
      return true
    }
  }

  #status(action: StatusAction, reconcile: Reconcile): Effect | undefined {
    const { api, fieldManager, records, statusEchoes } = this.#context
    const { apiVersion, kind } = reconcile.kind
    const { name, namespace } = reconcile.object.metadata
    const metadata = namespace ? { name, namespace } : { name }
    const desired = { apiVersion, kind, metadata, status: action.status }
    if (records.isUnchanged(reconcile.kind, reconcile.key, 'status', desired, reconcile.object)) return undefined
    return async () => {
      const options = { subresource: 'status', force: true, fieldManager, signal: reconcile.signal } as const
      let written: string | undefined
      statusEchoes.begin(reconcile.key)
      try {
        const stored = await api.apply(reconcile.kind, desired, options)
        written = stored.metadata.resourceVersion
        records.applied(reconcile.kind, reconcile.key, 'status', desired, stored)
        reconcile.object = stored
      } finally {
        if (statusEchoes.end(reconcile.key, written)) this.#context.onMissedChange(reconcile.key)
      }
      reconcile.log.debug('status written')
    }
  }

  #finalizer(action: FinalizerAction, reconcile: Reconcile): Effect | undefined {
    const { api, fieldManager } = this.#context
    if (hasFinalizer(reconcile.object, action.name) === action.present) return undefined
    return async () => {
      const change = action.present ? addFinalizer : removeFinalizer
      const options = { fieldManager, signal: reconcile.signal }
      reconcile.object = (await change(api, reconcile.kind, reconcile.object, action.name, options)) ?? reconcile.object
      reconcile.log.debug(action.present ? 'finalizer added' : 'finalizer removed')
    }
  }

  #declared(action: ApplyAction): DeclaredKind {
    const declared = this.#context.declared(action.kind)
    if (declared) return declared
    const { kind } = action.kind
    throw new TenureError(
      'TENURE_KIND_UNDECLARED',
      `The controller ${this.#context.controller} applies a ${kind} but does not watch that kind, so it cannot tell whether ` +
        `one has changed. Add ${kind} to its owns or watches.`,
      { fate: 'bug' },
    )
  }
}

function isWrite({ type }: Action): boolean {
  return type === 'apply' || type === 'create' || type === 'remove' || type === 'patch'
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

function isOwn(object: Stored<PartialObjectMetadata> | undefined, reconcile: Reconcile): boolean {
  const { uid } = reconcile.object.metadata
  return object?.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false
}

function isAdoption(action: Action): action is ApplyAction {
  return action.type === 'apply' && action.adopt !== undefined
}

/** Undefined if the object does not exist. */
async function orUndefined<R>(request: Promise<R>): Promise<R | undefined> {
  try {
    return await request
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
