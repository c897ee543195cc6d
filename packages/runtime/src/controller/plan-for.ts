import { type Kind, type KubeObject, type ObjectRef, type Stored, TenureError } from '@tenure/kube'
import type { Action, Actions, StatusOf } from '../actions/index.ts'
import { silentLogger } from '../log/logger.ts'
import type { PlanContext, Reads, StatusContext } from './context.ts'
import type { ControllerDefinition } from './definition.ts'

/** The input of a plan in a test. Objects other than the controller's carry apiVersion and kind. */
export interface PlanFixture<T extends KubeObject> {
  readonly object: T
  /** Objects that belong to it; owner references are added. Default: none. */
  readonly owned?: readonly KubeObject[]
  /** Other objects. Default: none. */
  readonly others?: readonly KubeObject[]
  /** Milliseconds since 1970. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number
  /** Default false. */
  readonly isLive?: boolean
  /** Failed reconciles in a row before this one. Default 0. */
  readonly failures?: number
  /** For `statusFor`: the action that failed. Default: none did. */
  readonly failure?: Error
}

/** The actions that a controller plans for this input: for tests, without a cluster, a cache or a clock. */
export function planFor<T extends KubeObject>(
  definition: ControllerDefinition<T>,
  input: PlanFixture<T>,
): readonly Action<T>[] {
  if (!definition.plan) {
    throw new TenureError('TENURE_CONTROLLER_INVALID', `The controller ${definition.name} has no plan.`)
  }
  const actions = definition.plan(contextFor(definition, input))
  return actions.filter((action) => action !== false && action !== null && action !== undefined)
}

/** The status, or the actions, that a controller reports for this input. */
export function statusFor<T extends KubeObject>(
  definition: ControllerDefinition<T>,
  input: PlanFixture<T>,
): StatusOf<T> | Actions<T> | undefined {
  if (!definition.status) {
    throw new TenureError('TENURE_CONTROLLER_INVALID', `The controller ${definition.name} has no status function.`)
  }
  const { failure } = input
  const context: StatusContext<T> = { ...contextFor(definition, input), failure }
  return definition.status(failure ? { ...context, failures: context.failures + 1 } : context)
}

function contextFor<T extends KubeObject>(definition: ControllerDefinition<T>, input: PlanFixture<T>): PlanContext<T> {
  const object = stored(input.object, definition.kind)
  const { namespace } = object.metadata
  const ofKind = <C extends KubeObject>(objects: readonly KubeObject[], kind: Kind<C>): readonly Stored<C>[] =>
    objects
      .filter((other) => other.kind === kind.kind && other.apiVersion === kind.apiVersion)
      .map((other) => stored(other as C, kind))
  const inPlace = (metadata: KubeObject['metadata'], ref: ObjectRef): boolean =>
    metadata?.name === ref.name && (metadata.namespace ?? namespace) === (ref.namespace ?? namespace)
  const all = [...(input.owned ?? []), ...(input.others ?? [])]
  const owned = (kind: Kind, name?: string): unknown => {
    const found = ofKind(input.owned ?? [], kind)
    return name === undefined ? found : found.find(({ metadata }) => metadata.name === name)
  }
  return {
    object,
    now: input.now ?? Date.UTC(2026, 0, 1),
    isLive: input.isLive ?? false,
    failures: input.failures ?? 0,
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

/** Adds the metadata that a server sets. */
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
