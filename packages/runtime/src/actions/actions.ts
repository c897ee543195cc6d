import type { Kind, KubeObject, ObjectRef, Propagation } from '@tenure/kube'
import type { EventContent } from './recorder.ts'
import type {
  ApplyAction,
  CallAction,
  CallEffect,
  CreateAction,
  EventAction,
  RemoveAction,
  RequeueAction,
  StatusAction,
} from './types.ts'

export interface ApplyActionOptions {
  /** Take over fields that others own. Default true: the controller is who decides. */
  readonly force?: boolean
}

/**
 * Keeps an object as described: the fields given, and only those. Without a namespace it is in that of the
 * controller's object; of a kind in `owns` it gets the owner reference by itself. Nothing is sent if nothing would change.
 */
export function apply<T extends KubeObject>(
  kind: Kind<T>,
  object: NoInfer<T>,
  options: ApplyActionOptions = {},
): ApplyAction {
  return { type: 'apply', kind, object, force: options.force ?? true }
}

/** Makes an object unless one of that name is there. With `generateName` it makes one each time it is asked to. */
export function create<T extends KubeObject>(kind: Kind<T>, object: NoInfer<T>): CreateAction {
  return { type: 'create', kind, object }
}

export interface RemoveActionOptions {
  /** Delete it only if it is still in the state that was given. Needs an object that was read. Default false. */
  readonly ifUnchanged?: boolean
  /** Default: the kind's own, Background for most. */
  readonly propagation?: Propagation
}

/**
 * Deletes an object: one that was read, or by name (in the namespace of the controller's object unless told). Never
 * another that has taken its name meanwhile. One that is gone, or on its way, is left alone.
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
  }
}

/**
 * Keeps the status as described, whole: what an earlier status had and this one lacks is taken away. Nothing is sent
 * if nothing would change.
 */
export function status<S extends object>(value: S): StatusAction<S> {
  return { type: 'status', status: value }
}

/** Records an Event about the controller's object. It is recorded each time, so let the plan ask for it on a change. */
export function event(content: EventContent): EventAction {
  const { type, ...note } = content
  return { type: 'event', eventType: type, ...note }
}

/** Looks again at a time: milliseconds since 1970, a Date, or text as in RFC 3339. */
export function requeueAt(time: number | Date | string): RequeueAction {
  const at = typeof time === 'number' ? time : new Date(time).getTime()
  if (Number.isNaN(at)) throw new RangeError(`requeueAt: ${String(time)} is not a time`)
  return { type: 'requeue', at }
}

/** Looks again after this many milliseconds. */
export function requeueAfter(milliseconds: number): RequeueAction {
  return { type: 'requeue', after: milliseconds }
}

/** An effect outside Kubernetes, under a name that logs and tests know it by. It must not matter if it happens twice. */
export function call(name: string, effect: CallEffect): CallAction {
  return { type: 'call', name, effect }
}

function namesOf(metadata: { readonly name?: string; readonly namespace?: string }): ObjectRef {
  const name = metadata.name ?? ''
  return metadata.namespace ? { name, namespace: metadata.namespace } : { name }
}
