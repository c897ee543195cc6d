import type { Operator } from '@tenure/http'
import { type ObjectRef, refTo, type Stored } from '@tenure/kube'
import {
  type ComponentDefinition,
  controller,
  type ControllerDefinition,
  installDefinitions,
  type InstallDefinitionsOptions,
  type OperatorContext,
  type OwnedKind,
  watch,
  type Watch,
} from '@tenure/runtime'
import { Lease } from '@tenure/kube/kinds'
import { defaultLeaseSettings, type LeaseSettings } from '../../api/types.ts'
import { createKindController, type KindController, type KindControllerOptions } from '../lease/kind-controller.ts'
import { LeaseController, type LeaseControllerMode } from '../../api/lease-controller.ts'
import { CHILD_KINDS, CHILD_LABEL } from './children.ts'
import { leaseControllerDefinition } from '../../api/crd.ts'
import { createDefaults, type DefaultLeaseController } from './defaults.ts'
import { Discovery } from './discovery.ts'
import { KindControllers } from './kind-controllers.ts'
import {
  CrdMetadata,
  crdGroup,
  LeaseMetadata,
  notRunning,
  reconcileLeaseController,
  type LeaseControllerContext,
} from './controller.ts'

export interface LeaseControllersOptions {
  /** How a LeaseController without a mode is run. Default: `dedicated` if there is somewhere to deploy to, else `shared`. */
  readonly defaultMode?: LeaseControllerMode
  /** How dedicated controllers are deployed. Default: not at all, the operator keeps all leases itself. */
  readonly dedicated?: {
    readonly image: string
    /** Default: the namespace of the connection, which is the operator's own. */
    readonly namespace?: string | undefined
  }
  /** How the leases that the operator keeps itself are kept, unless a LeaseController says otherwise. */
  readonly settings?: LeaseSettings
  /** LeaseControllers that are made if they are not there. Default: none. */
  readonly defaults?: readonly DefaultLeaseController[]
  /** How the CRD is installed and upgraded; `false`: it is there, and nobody looks. Default: by this operator. */
  readonly definition?: InstallDefinitionsOptions | false
  /** Makes the keeper of one kind's leases. Default: `createKindController`. */
  readonly createController?: (context: OperatorContext, options: KindControllerOptions) => KindController
}

/** Runs a lease controller for every kind that a LeaseController names: deployed, or inside this process. */
export function leaseControllersOperator(options: LeaseControllersOptions = {}): Operator {
  const { dedicated, defaults = [], definition, createController = createKindController } = options
  const { settings = defaultLeaseSettings } = options
  // What a manager lends comes after the controller was declared, and is there before its first turn.
  let serving: Pick<LeaseControllerContext, 'discovery' | 'dedicated'> | undefined
  let pool: KindControllers | undefined
  const deps = (): LeaseControllerContext => {
    if (!serving || !pool) throw notRunning()
    return {
      ...serving,
      pool,
      settings,
      defaultMode: options.defaultMode ?? (dedicated ? 'dedicated' : 'shared'),
    }
  }
  const settle: ComponentDefinition = {
    stage: 'serve',
    create({ api, clock, namespace }) {
      serving = {
        discovery: new Discovery(api, clock),
        dedicated: dedicated && {
          image: dedicated.image,
          namespace: dedicated.namespace ?? namespace,
          families: settings.families,
        },
      }
      return idle('lease controllers')
    },
  }
  const keepers: ComponentDefinition = {
    stage: 'lead',
    create(context) {
      const { clock, random, log } = context
      pool = new KindControllers({ create: (wanted) => createController(context, wanted), clock, random, log })
      return pool
    },
  }
  return {
    name: 'lease-controllers',
    controllers: [leaseControllers(deps, dedicated !== undefined)],
    components: [
      settle,
      ...(definition === false ? [] : [installDefinitions([leaseControllerDefinition], definition)]),
      keepers,
      ...(defaults.length > 0 ? [createsDefaults(defaults)] : []),
    ],
    webhooks: [],
    routes: [],
  }
}

function leaseControllers(deps: () => LeaseControllerContext, canDeploy: boolean): ControllerDefinition {
  return controller(LeaseController, {
    owns: canDeploy ? ownedKinds() : [],
    watches: [watchOfCrds(() => deps().discovery), ...(canDeploy ? [watchOfNeighbours()] : [])],
    // Rights that were missing come back when somebody grants them, of which nothing tells.
    backoff: { base: 100, max: 30_000 },
    reconcile: (context) => reconcileLeaseController(context, deps()),
    deleted: ({ name }) => deps().pool.release(name),
  })
}

function ownedKinds(): readonly OwnedKind[] {
  const selection = { labelSelector: `${CHILD_LABEL}=true` }
  return CHILD_KINDS.map((kind) => ({ kind: kind === Lease ? LeaseMetadata : kind, selection }))
}

/** A kind may come or go with its CRD: whoever waits for one of its group looks again. */
function watchOfCrds(discovery: () => Discovery): Watch {
  return watch(CrdMetadata, ({ metadata }, primaries) => {
    discovery().invalidate()
    const group = crdGroup(metadata.name)
    return leaseControllersIn(primaries.list())
      .filter(({ spec }) => !spec.group || spec.group === group)
      .map(refTo)
  })
}

/** A Deployment that keeps a kind's leases concerns those who would keep them here. */
function watchOfNeighbours(): Watch {
  return watch(LeaseController, ({ metadata, status }, primaries): readonly ObjectRef[] => {
    const { resource } = status ?? {}
    if (!resource) return []
    return leaseControllersIn(primaries.list())
      .filter((other) => other.metadata.name !== metadata.name)
      .filter((other) => other.status?.resource?.plural === resource.plural)
      .map(refTo)
  })
}

/** What a controller of LeaseControllers calls its primaries are LeaseControllers; the mapping's type cannot say so. */
function leaseControllersIn(primaries: readonly Stored<object>[]): readonly Stored<LeaseController>[] {
  return primaries as readonly Stored<LeaseController>[]
}

function createsDefaults(defaults: readonly DefaultLeaseController[]): ComponentDefinition {
  return { stage: 'lead', create: (context) => createDefaults(context, defaults) }
}

function idle(name: string): ReturnType<ComponentDefinition['create']> {
  return { name, start: () => Promise.resolve(), stop: () => Promise.resolve() }
}
