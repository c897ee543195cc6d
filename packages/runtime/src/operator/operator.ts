import type { KubeObject } from '@tenure/kube'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import type { Table, Values } from '../configuration/index.ts'
import type { ControllerDefinition } from '../controller/index.ts'
import type { Informer } from '../informer/types.ts'
import type { ComponentDefinition, OperatorContext } from '../manager/component.ts'
import type { OperatorRbac } from '../rbac/index.ts'
import type { Webhook } from '../webhooks/index.ts'

/** The parts of an operator that the manager runs. Other packages add kinds of parts: `@tenure/http` adds `routes`. */
export interface OperatorParts {
  /** They run on the leader, as soon as their caches are filled. */
  readonly controllers?: readonly ControllerDefinition[]
  /** Started and stopped with the operator. */
  readonly components?: readonly ComponentDefinition[]
  readonly webhooks?: readonly Webhook[]
  /** Work of its components, which reports and the dashboard show as this operator's. */
  readonly queues?: () => readonly OperatorQueue[]
}

/** A `QueueWorker` of an operator, by its name. */
export interface OperatorQueue {
  readonly name: string
  /** The informers whose events fill it. Default: none. */
  readonly informers?: readonly Pick<Informer<KubeObject>, 'lastEventAt'>[]
}

/** Names of the operator in a cluster. */
export interface OperatorNames<S = unknown> {
  /** Names its field manager, its Events' reporter, its webhook configurations and its Service. Default: the operator's name. */
  readonly name?: string
  /** Names the Lease of its election. Default: `<name>-leader`. */
  readonly leaderLease?: string | { of(settings: S): string }['of']
}

/** An operator as a value. Run it with `runOperators`. */
export interface Operator<T extends Table = Table> {
  /** Names the command, the logger and, unless `identity` says otherwise, everything that it names in a cluster. */
  readonly name: string
  /** One sentence for help and reference. */
  readonly summary: string
  readonly identity: OperatorNames<Values<T>>
  /** Its settings: one table for flags, environment, file, defaults, help and reference. */
  readonly config: T
  /** Environment variable with the path of its settings file, besides CONFIG_FILE. */
  readonly configEnvironment?: string
  /** Settings that replace the defaults on the embedded control plane. */
  readonly embedded: Partial<Values<T>>
  readonly rbac: OperatorRbac
  /** Installed and upgraded at start, or by manifest. */
  readonly crds: readonly CustomResourceDefinition[]
  /** Builds its parts. Called once per process, when everything in `context` exists and nothing has started yet. */
  setup(context: OperatorContext<Values<T>>): OperatorParts
}

export interface OperatorDefinition<T extends Table> extends Pick<Operator<T>, 'name' | 'setup'> {
  /** Default: none. */
  readonly summary?: string
  /** Default: named as the operator. */
  readonly identity?: OperatorNames<Values<T>>
  /** Default: no settings. */
  readonly config?: T
  /** Default: CONFIG_FILE alone. */
  readonly configEnvironment?: string
  /** Default: nothing. */
  readonly embedded?: Partial<Values<T>>
  /** Default: none. */
  readonly rbac?: OperatorRbac
  /** Default: none. */
  readonly crds?: readonly CustomResourceDefinition[]
}

/**
 * Defines an operator: `defineOperator({ name: 'websites', crds: [definition], setup: () => ({ controllers: [websites] }) })`.
 */
export function defineOperator<const T extends Table = Readonly<Record<string, never>>>(
  definition: OperatorDefinition<T>,
): Operator<T> {
  return {
    summary: `Run the ${definition.name} operator.`,
    identity: {},
    // Without a table T is the empty one.
    config: {} as T,
    embedded: {},
    rbac: { cluster: [] },
    crds: [],
    ...definition,
  }
}

/** An operator with the settings that it runs with. */
export interface ConfiguredOperator {
  readonly operator: Operator
  readonly settings: Readonly<Record<string, unknown>>
}

/** An operator with settings, as `readConfiguration` returns them. */
export function configure<T extends Table>(operator: Operator<T>, settings: Values<T>): ConfiguredOperator {
  return { operator, settings }
}
