import type { Operator } from '@tenure/http'
import { TenureError } from '@tenure/kube'
import {
  type ComponentDefinition,
  installDefinitions,
  type InstallDefinitionsOptions,
  type OperatorContext,
} from '@tenure/runtime'
import type { ObjectRef } from '@tenure/kube'
import { leaseControllerDefinition } from './api/crd.ts'
import type { LeaseControllerMode } from './api/lease-controller.ts'
import { defaultLeaseSettings, type GroupVersionKind, type LeaseSettings } from './api/types.ts'
import {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from './controllers/lease/kind-controller.ts'
import { leaseControllerController, type LeaseControllerContext } from './controllers/lease-controller/controller.ts'
import { createDefaults, type DefaultLeaseController } from './controllers/lease-controller/defaults.ts'
import { Discovery } from './controllers/lease-controller/discovery.ts'
import { KindControllers } from './controllers/lease-controller/kind-controllers.ts'
import { createLeaseReporter } from './controllers/lease-controller/reporter.ts'

export interface LeasesOperatorOptions {
  /** The kind to manage. */
  readonly kind: GroupVersionKind
  /** Default: `defaultLeaseSettings`. */
  readonly settings?: LeaseSettings
  /** Objects reconciled at once. Default 32. */
  readonly concurrency?: number
  /** The Lease to which the controller reports its state, for a LeaseController. Default: none. */
  readonly report?: ObjectRef | undefined
}

/** Manages the leases of one kind, on the leader. */
export function leasesOperator(options: LeasesOperatorOptions): Operator {
  const { kind, settings = defaultLeaseSettings, concurrency, report } = options
  let controller: KindController | undefined
  const idle = { activeLeases: 0, nextExpiry: undefined, problem: undefined }
  const components: ComponentDefinition[] = [
    {
      stage: 'lead',
      create(context) {
        controller = createKindController(context, {
          kind,
          settings,
          probe: true,
          ...(concurrency !== undefined && { concurrency }),
        })
        return controller
      },
    },
  ]
  if (report) {
    components.push({
      stage: 'lead',
      create: (context) => createLeaseReporter(context, { lease: report, read: () => controller ?? idle }),
    })
  }
  return { name: 'leases', controllers: [], components, webhooks: [], routes: [] }
}

export interface LeaseControllersOptions {
  /** Mode of a LeaseController without one. Default: `dedicated` if an image is given, else `shared`. */
  readonly defaultMode?: LeaseControllerMode
  /** How dedicated controllers are deployed. Default: not at all, all controllers run inside the operator. */
  readonly dedicated?: {
    readonly image: string
    /** Default: the operator's own namespace. */
    readonly namespace?: string | undefined
  }
  /** Settings of controllers inside the operator, unless a LeaseController overrides them. */
  readonly settings?: LeaseSettings
  /** LeaseControllers to create once. Default: none. */
  readonly defaults?: readonly DefaultLeaseController[]
  /** How the CRD is installed and upgraded; `false`: not at all. Default: by this operator. */
  readonly definition?: InstallDefinitionsOptions | false
  /** Creates the controller of one kind. Default: `createKindController`. */
  readonly createController?: (context: OperatorContext, options: KindControllerOptions) => KindController
}

/** Runs a lease controller for every kind that a LeaseController names, in a Deployment or inside this process. */
export function leaseControllersOperator(options: LeaseControllersOptions = {}): Operator {
  const { dedicated, defaults = [], definition, createController = createKindController } = options
  const { settings = defaultLeaseSettings } = options
  let serving: Pick<LeaseControllerContext, 'discovery' | 'dedicated'> | undefined
  let pool: KindControllers | undefined
  const context = (): LeaseControllerContext => {
    if (!serving || !pool) throw notRunning()
    return {
      ...serving,
      pool,
      settings,
      defaultMode: options.defaultMode ?? (dedicated ? 'dedicated' : 'shared'),
    }
  }
  const serve: ComponentDefinition = {
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
      return { name: 'lease controllers', start: () => Promise.resolve(), stop: () => Promise.resolve() }
    },
  }
  const controllers: ComponentDefinition = {
    stage: 'lead',
    create(manager) {
      const { clock, random, log } = manager
      pool = new KindControllers({ create: (wanted) => createController(manager, wanted), clock, random, log })
      return pool
    },
  }
  return {
    name: 'lease-controllers',
    controllers: [leaseControllerController(context, dedicated !== undefined)],
    components: [
      serve,
      ...(definition === false ? [] : [installDefinitions([leaseControllerDefinition], definition)]),
      controllers,
      ...(defaults.length > 0 ? [createsDefaults(defaults)] : []),
    ],
    webhooks: [],
    routes: [],
  }
}

function createsDefaults(defaults: readonly DefaultLeaseController[]): ComponentDefinition {
  return { stage: 'lead', create: (context) => createDefaults(context, defaults) }
}

function notRunning(): TenureError {
  return new TenureError('TENURE_LEASE_OPERATOR', 'The operator of LeaseControllers works only within a manager.', {
    fate: 'bug',
  })
}
