import { type Kind, type KubeObject, type ObjectRef, type Stored, TenureError } from '@tenure/kube'
import type { Action } from '../actions/index.ts'
import { silentLogger } from '../log/logger.ts'
import type { PlanContext, Reads } from './context.ts'
import type { ControllerDefinition } from './definition.ts'

/** What a plan is to see. Objects other than the controller's carry apiVersion and kind. */
export interface Seen<T extends KubeObject> {
  readonly object: T
  /** What belongs to the object. Owner references need not be given. Default: nothing. */
  readonly owned?: readonly KubeObject[]
  /** What else is there. Default: nothing. */
  readonly others?: readonly KubeObject[]
  /** Milliseconds since 1970. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number
}

/** The actions a controller plans for what it sees: for tests, without a cluster, a cache or a clock. */
export function planFor<T extends KubeObject>(
  definition: ControllerDefinition<T>,
  seen: Seen<T>,
): readonly Action<T>[] {
  if (!definition.plan) {
    throw new TenureError('TENURE_CONTROLLER_INVALID', `The controller ${definition.name} has no plan to ask.`)
  }
  const actions = definition.plan(contextFor(definition, seen))
  return actions.filter((action) => action !== false && action !== null && action !== undefined)
}

function contextFor<T extends KubeObject>(definition: ControllerDefinition<T>, seen: Seen<T>): PlanContext<T> {
  const object = stored(seen.object, definition.kind)
  const { namespace } = object.metadata
  const ofKind = <C extends KubeObject>(objects: readonly KubeObject[], kind: Kind<C>): readonly Stored<C>[] =>
    objects
      .filter((other) => other.kind === kind.kind && other.apiVersion === kind.apiVersion)
      .map((other) => stored(other as C, kind))
  const inPlace = (metadata: KubeObject['metadata'], ref: ObjectRef): boolean =>
    metadata?.name === ref.name && (metadata.namespace ?? namespace) === (ref.namespace ?? namespace)
  const all = [...(seen.owned ?? []), ...(seen.others ?? [])]
  const owned = (kind: Kind, name?: string): unknown => {
    const found = ofKind(seen.owned ?? [], kind)
    return name === undefined ? found : found.find(({ metadata }) => metadata.name === name)
  }
  return {
    object,
    now: seen.now ?? Date.UTC(2026, 0, 1),
    log: silentLogger,
    owned: owned as Reads['owned'],
    read: (kind, ref) =>
      ofKind(all, kind).find(({ metadata }) => inPlace(metadata, typeof ref === 'string' ? { name: ref } : ref)),
    list: (kind, namespace) =>
      ofKind(all, kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    byIndex: (kind, index, value) =>
      ofKind(all, kind).filter((other) => indexFunction(definition, kind, index)(other).includes(value)),
  }
}

function indexFunction(
  definition: ControllerDefinition,
  kind: Kind,
  index: string,
): (object: Stored<KubeObject>) => readonly string[] {
  const found =
    definition.kind === kind
      ? definition.indexes?.[index]
      : definition.watches?.find((watch) => watch.kind === kind)?.indexes[index]
  if (found) return found
  throw new TenureError('TENURE_CONTROLLER_INVALID', `${definition.name} declares no index ${index} of ${kind.kind}.`)
}

/** With what a server would have added, so that a test need not. */
function stored<T extends KubeObject>(object: T, kind: Kind<T>): Stored<T> {
  const name = object.metadata?.name ?? 'unnamed'
  const identity = { name, uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...object,
    metadata: { ...identity, generation: 1, ...object.metadata },
  }
}
