import type { Operator } from '@tenure/http'
import { type ComponentDefinition, installDefinitions } from '@tenure/runtime'
import { ApplicationAdmission, type ApplicationAdmissionOptions } from './admission/index.ts'
import { FIELD_MANAGER, OPERATOR } from './api/index.ts'
import { applicationDefinition } from './api/crd.ts'
import { EventHistory } from './events/history.ts'
import { ApplicationMetrics } from './metrics.ts'
import { defaultImagePolicy } from './admission/image-policy.ts'
import { applicationsController, type ApplicationsControllerOptions } from './controllers/application/controller.ts'
import { applicationRoutes, type ApplicationRoutesOptions } from './http/routes.ts'

export interface ApplicationsOptions
  extends
    ApplicationsControllerOptions,
    Omit<ApplicationAdmissionOptions, 'metrics'>,
    Omit<ApplicationRoutesOptions, 'events' | 'reviews' | 'policy'> {
  /** Install and upgrade the CustomResourceDefinition at start; false: wait until it exists. Default true. */
  readonly installDefinitions?: boolean | undefined
  /** Maximum number of events that `/events` keeps. Default 10,000. */
  readonly eventHistoryLimit?: number | undefined
}

/** The Applications operator. */
export function applicationsOperator(options: ApplicationsOptions = {}): Operator {
  const { namespace, policy, policyOnRest, identity } = options
  const metrics = new ApplicationMetrics({ namespace })
  const history = new EventHistory({ metrics, limit: options.eventHistoryLimit, identity, namespace })
  const admission = new ApplicationAdmission({ ...options, metrics })
  const definition = installDefinitions([applicationDefinition], {
    fieldManager: FIELD_MANAGER,
    install: options.installDefinitions ?? true,
    manifest: 'deploy/crds/applications.cloudnative.elide.dev.yaml',
  })
  const components: readonly ComponentDefinition[] = [
    definition,
    metrics.component,
    metrics.leadershipComponent,
    history.component,
    admission.component,
  ]
  return {
    name: OPERATOR,
    controllers: [
      {
        ...applicationsController({ namespace, concurrency: options.concurrency, backoff: options.backoff }),
        recorder: history.recorder,
        onReconciled: metrics.reconciled,
      },
    ],
    components,
    webhooks: admission.webhooks,
    routes: [
      applicationRoutes({
        ...options,
        events: history,
        reviews: admission,
        policy: policyOnRest ? (policy ?? defaultImagePolicy) : undefined,
      }),
    ],
  }
}
