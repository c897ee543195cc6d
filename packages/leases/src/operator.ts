// Adds `routes` and `views` to the parts of an operator.
import '@tenure/http'
import type { OperatorContext, OperatorParts } from '@tenure/runtime'
import { defineOperator } from '@tenure/runtime'
import { leaseAnnotationsWebhook } from './admission/index.ts'
import { leaseControllerDefinition } from './api/crd.ts'
import { defaultLeaseSettings } from './api/types.ts'
import { cleanupSettings, leaseControllersConfig, type LeaseControllersSettings, leaseFamilies } from './config.ts'
import {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from './controllers/lease/kind-controller.ts'
import { LeaseCaches } from './controllers/lease/lease-caches.ts'
import { leaseControllerController } from './controllers/lease-controller/controller.ts'
import {
  createDefaults,
  type DefaultLeaseController,
  defaultLeaseControllers,
} from './controllers/lease-controller/defaults.ts'
import { KindControllers } from './controllers/lease-controller/kind-controllers.ts'
import { DEFAULTS_QUEUE, HELD_JOBS_QUEUE } from './api/queue-names.ts'
import { leaseRoutes } from './http/routes.ts'
import { leaseControllersView } from './http/views/lease-controllers-view.ts'
import { leasesView } from './http/views/leases-view.ts'
import { LEASE_OPERATOR, leaseOperatorRules } from './rbac.ts'

/** Runs a lease controller for every kind that a LeaseController names, in a Deployment or inside this process. */
export const leaseControllers = defineOperator({
  name: 'lease-controllers',
  summary: 'Run a lease controller for every kind that a LeaseController names.',
  identity: { name: LEASE_OPERATOR },
  config: leaseControllersConfig,
  // Everyone is the administrator there.
  embedded: { leaseControllerMode: 'shared', createDefaultLeaseControllers: true, cleanupPolicy: 'any' },
  rbac: { cluster: leaseOperatorRules() },
  crds: [leaseControllerDefinition],
  setup: (context) => leaseControllersParts(context),
})

/** Creates the controller of one kind inside the operator. */
export type KindControllerFactory = (context: OperatorContext, options: KindControllerOptions) => KindController

export interface LeaseControllersPartsOptions {
  /** Default: `createKindController`. */
  readonly createController?: KindControllerFactory | undefined
  /** LeaseControllers that are created once, if the settings say so. Default: `defaultLeaseControllers`. */
  readonly defaults?: readonly DefaultLeaseController[] | undefined
}

/** The parts of the operator of LeaseControllers. */
export function leaseControllersParts(
  context: OperatorContext<LeaseControllersSettings>,
  { createController = createKindController, defaults = defaultLeaseControllers }: LeaseControllersPartsOptions = {},
): OperatorParts {
  const { clock, discovery, log, random, settings } = context
  const { leaseControllerImage: image, leaseControllerNamespace: namespace = context.namespace } = settings
  const families = leaseFamilies(settings)
  const cleanup = cleanupSettings(settings)
  const defaultMode = settings.leaseControllerMode ?? (image === undefined ? 'shared' : 'dedicated')
  const pool = new KindControllers({ clock, random, log })
  const caches = new LeaseCaches()
  return {
    controllers: [
      leaseControllerController({
        discovery,
        pool,
        dedicated: image === undefined ? undefined : { image, namespace, families, cleanup },
        settings: { ...defaultLeaseSettings, families, cleanup },
        defaultMode,
      }),
    ],
    components: [
      {
        stage: 'lead',
        create: (leader) => pool.beginTerm((wanted) => createController(leader, { ...wanted, caches })),
      },
      ...(settings.createDefaultLeaseControllers
        ? [
            {
              stage: 'lead' as const,
              create: (leader: OperatorContext) => createDefaults(leader, defaults),
            },
          ]
        : []),
    ],
    webhooks: settings.leaseAdmission ? [leaseAnnotationsWebhook({ families })] : [],
    queues: () => [{ name: DEFAULTS_QUEUE }, { name: HELD_JOBS_QUEUE }, ...caches.queues()],
    routes: leaseRoutes(context, families),
    views: [leasesView(caches, families), leaseControllersView(context, defaultMode)],
  }
}
