import { type Kind, type KubeObject, mergePatch, type ObjectRef, type Propagation, type Stored } from '@tenure/kube'
import type { EventContent } from './recorder.ts'
import type {
  Actions,
  AdoptionCheck,
  ApplyAction,
  CallAction,
  CallEffect,
  CreateAction,
  EventAction,
  PatchAction,
  ReadLiveAction,
  RemoveAction,
  RequeueAction,
  StatusAction,
} from './types.ts'

export interface ApplyActionOptions {
  /** Take over fields that others own. Default true: the controller decides. */
  readonly force?: boolean
  /**
   * Asked before a child is created, if an object of its name exists that the cache does not show as a child: an apply
   * would merge the two. All checks of a plan run before its first apply. Default: no check, the object is taken over.
   */
  readonly adopt?: AdoptionCheck
}

/**
 * Keeps an object as described: the fields given, and only those. Its namespace defaults to that of the controller's
 * object; an object of a kind in `owns` gets an owner reference. Nothing is sent if nothing would change.
 */
export function apply<T extends KubeObject>(
  kind: Kind<T>,
  object: NoInfer<T>,
  options: ApplyActionOptions = {},
): ApplyAction {
  return { type: 'apply', kind, object, force: options.force ?? true, ...(options.adopt && { adopt: options.adopt }) }
}

export interface CreateActionOptions {
  /**
   * Asked if an object of that name exists that does not belong to the controller's object. It costs a request only in
   * that case. Default: no check.
   */
  readonly adopt?: AdoptionCheck
  /**
   * The error to report if the API server refuses the object. Its messages quote the object, which may be secret.
   * Default: the API server's error.
   */
  readonly describeFailure?: (error: unknown) => unknown
  /** Carried out only if this action created the object, not if it existed. Default: nothing. */
  readonly afterwards?: Actions
}

/**
 * Creates an object unless one of that name exists; an existing one stays as it is. With `generateName` every call
 * creates one.
 */
export function create<T extends KubeObject>(
  kind: Kind<T>,
  object: NoInfer<T>,
  { adopt, afterwards, describeFailure }: CreateActionOptions = {},
): CreateAction {
  return {
    type: 'create',
    kind,
    object,
    ...(adopt && { adopt }),
    ...(describeFailure && { describeFailure }),
    ...(afterwards && { afterwards }),
  }
}

export interface RemoveActionOptions {
  /** Delete it only if it is still in the state that was given. Needs an object that was read. Default false. */
  readonly ifUnchanged?: boolean
  /** Default: the kind's own, Background for most. */
  readonly propagation?: Propagation
  /** Carried out only if this action deleted the object, not if it was gone already. Default: nothing. */
  readonly afterwards?: Actions
}

/**
 * Deletes an object: one that was read, or one by name (by default in the namespace of the controller's object). It
 * never deletes another object that took the name in the meantime. An object that is gone or terminating is left alone.
 */
export function remove<T extends KubeObject>(
  kind: Kind<T>,
  target: T | ObjectRef | string,
  options: RemoveActionOptions = {},
): RemoveAction {
  const metadata = typeof target === 'object' && 'metadata' in target ? target.metadata : undefined
  const ref = typeof target === 'string' ? { name: target } : metadata ? namesOf(metadata) : (target as ObjectRef)
  return {
    type: 'remove',
    kind,
    ref,
    ...(metadata?.uid !== undefined && { uid: metadata.uid }),
    ...(options.ifUnchanged &&
      metadata?.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
    ...(options.propagation !== undefined && { propagation: options.propagation }),
    ...(options.afterwards && { afterwards: options.afterwards }),
  }
}

export interface PatchActionOptions {
  /** Carried out only if this action changed the object, not if it was gone. Default: nothing. */
  readonly afterwards?: Actions
}

/**
 * Changes fields of exactly the object that was read, by a merge patch: null removes a field. If the object changed in
 * the meantime, the API server answers 409 and the reconcile is repeated. `changes` must not be empty.
 */
export function patch<T extends KubeObject>(
  kind: Kind<T>,
  object: Stored<T>,
  changes: Readonly<Record<string, unknown>>,
  options: PatchActionOptions = {},
): PatchAction {
  const { uid, resourceVersion } = object.metadata
  const metadata = { ...(changes['metadata'] as object | undefined), uid, resourceVersion }
  return {
    type: 'patch',
    kind,
    ref: namesOf(object.metadata),
    patch: mergePatch({ ...changes, metadata }),
    ...(options.afterwards && { afterwards: options.afterwards }),
  }
}

/**
 * Reads the controller's object from the API server; then the plan runs again with that object and with the server's
 * time as `now` (`isLive` is true then). For decisions that a wrong clock would make wrong for good. It must be the
 * only action of its plan.
 */
export function readLive(): ReadLiveAction {
  return { type: 'read-live' }
}

/** Keeps the whole status as described: fields of an earlier status that are missing here are removed. Nothing is sent if nothing would change. */
export function status<S extends object>(value: S): StatusAction<S> {
  return { type: 'status', status: value }
}

/** Records an Event about the controller's object, every time: plan it when something changes. */
export function event(content: EventContent): EventAction {
  const { type, ...note } = content
  return { type: 'event', eventType: type, ...note }
}

/** Reconciles again at a time: milliseconds since 1970, a Date, or RFC 3339 text. */
export function requeueAt(time: number | Date | string): RequeueAction {
  const at = typeof time === 'number' ? time : new Date(time).getTime()
  if (Number.isNaN(at)) throw new RangeError(`requeueAt: ${String(time)} is not a time`)
  return { type: 'requeue', at }
}

/** Reconciles again after this many milliseconds. */
export function requeueAfter(milliseconds: number): RequeueAction {
  return { type: 'requeue', after: milliseconds }
}

/** An effect outside Kubernetes, with a name for logs and tests. It must be idempotent. */
export function call(name: string, effect: CallEffect): CallAction {
  return { type: 'call', name, effect }
}

function namesOf(metadata: { readonly name?: string; readonly namespace?: string }): ObjectRef {
  const name = metadata.name ?? ''
  return metadata.namespace ? { name, namespace: metadata.namespace } : { name }
}
