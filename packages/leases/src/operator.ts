import type { Component, OperatorContext, OperatorParts } from '@tenure/runtime'
import { defineOperator } from '@tenure/runtime'
import { leaseAnnotationsWebhook } from './admission/index.ts'
import { leaseControllerDefinition } from './api/crd.ts'
import { defaultLeaseSettings } from './api/types.ts'
import {
  cleanupSettings,
  leaderName,
  leaseControllersConfig,
  type LeaseControllersSettings,
  leaseFamilies,
  leasesConfig,
  leaseSettings,
  reportLease,
} from './config.ts'
import {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from './controllers/lease/kind-controller.ts'
import { leaseControllerController } from './controllers/lease-controller/controller.ts'
import {
  createDefaults,
  type DefaultLeaseController,
  defaultLeaseControllers,
} from './controllers/lease-controller/defaults.ts'
import { KindControllers } from './controllers/lease-controller/kind-controllers.ts'
import { createLeaseReporter } from './controllers/lease-controller/reporter.ts'
import { LEASE_OPERATOR, leaseOperatorRules } from './rbac.ts'

/** Manages the leases of one kind, which its settings name. A LeaseController grants its permissions with the kind. */
export const leases = defineOperator({
  name: 'leases',
  summary: 'Manages the leases of one kind: deletes objects when their TTL has passed.',
  identity: { name: 'object-lease-controller', leaderLease: (settings) => leaderName(settings) },
  config: leasesConfig,
  setup({ settings: values }) {
    const { group, version, kind, concurrency } = values
    const settings = leaseSettings(values)
    const report = values.report === undefined ? undefined : reportLease(values.report)
    const create = (context: OperatorContext): Component => {
      const controller = createKindController(context, {
        kind: { group, version, kind },
        settings,
        concurrency,
        probe: true,
      })
      if (!report) return controller
      return together(controller, createLeaseReporter(context, { lease: report, read: () => controller }))
    }
    return { components: [{ stage: 'lead', create }] }
  },
})

/** Runs a lease controller for every kind that a LeaseController names, in a Deployment or inside this process. */
export const leaseControllers = defineOperator({
  name: 'lease-controllers',
  summary: 'Runs a lease controller for every kind that a LeaseController names.',
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
  const pool = new KindControllers({ clock, random, log })
  return {
    controllers: [
      leaseControllerController({
        discovery,
        pool,
        dedicated: image === undefined ? undefined : { image, namespace, families, cleanup },
        settings: { ...defaultLeaseSettings, families, cleanup },
        defaultMode: settings.leaseControllerMode ?? (image === undefined ? 'shared' : 'dedicated'),
      }),
    ],
    components: [
      {
        stage: 'lead',
        create: (leader) => pool.beginTerm((wanted) => createController(leader, wanted)),
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
  }
}

/** Two components as one: the second depends on the first. */
function together(first: Component, second: Component): Component {
  return {
    name: first.name,
    start: async (signal) => {
      await first.start(signal)
      await second.start(signal)
    },
    stop: async (grace) => {
      await second.stop(grace)
      await first.stop(grace)
    },
  }
}
