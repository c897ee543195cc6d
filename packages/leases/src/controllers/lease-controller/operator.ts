import type { Operator } from '@tenure/http'
import { TenureError } from '@tenure/kube'
import {
  type ComponentDefinition,
  installDefinitions,
  type InstallDefinitionsOptions,
  type OperatorContext,
} from '@tenure/runtime'
import { leaseControllerDefinition } from '../../api/crd.ts'
import type { LeaseControllerMode } from '../../api/lease-controller.ts'
import { defaultLeaseSettings, type LeaseSettings } from '../../api/types.ts'
import { createKindController, type KindController, type KindControllerOptions } from '../lease/kind-controller.ts'
import { leaseControllerController, type LeaseControllerContext } from './controller.ts'
import { createDefaults, type DefaultLeaseController } from './defaults.ts'
import { Discovery } from './discovery.ts'
import { KindControllers } from './kind-controllers.ts'

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
