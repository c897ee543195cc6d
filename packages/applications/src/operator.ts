// Adds `routes` and `views` to the parts of an operator.
import '@tenure/http'
import { defineOperator } from '@tenure/runtime'
import { ApplicationAdmission } from './admission/index.ts'
import { applicationDefinition } from './api/crd.ts'
import { LEADER_LEASE, OPERATOR } from './api/index.ts'
import { applicationsConfig, imagePolicyOf } from './config.ts'
import { applicationController } from './controllers/application/controller.ts'
import { EventHistory } from './events/history.ts'
import { applicationsView } from './http/applications-view.ts'
import { applicationRoutes } from './http/routes.ts'
import { ApplicationMetrics } from './metrics.ts'
import { clusterRules, namespaceRules } from './rbac.ts'

/** Creates and updates the workload of each Application, and serves its HTTP API and webhooks. */
export const applications = defineOperator({
  name: 'applications',
  summary: 'Run the Applications operator.',
  identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
  config: applicationsConfig,
  // A control plane outlives `tenure start`: its writes must not wait for webhooks of a process that has stopped.
  embedded: { createNamespaces: true, webhookFailurePolicy: 'Ignore' },
  rbac: { cluster: clusterRules(), namespace: namespaceRules() },
  crds: [applicationDefinition],
  setup(context) {
    const { settings } = context
    const { namespace, concurrency, imagePolicyOnRest: policyOnRest, podName: identity } = settings
    const policy = imagePolicyOf(settings)
    const metrics = new ApplicationMetrics(context, { namespace })
    const history = new EventHistory(context, { metrics, limit: settings.eventHistoryLimit, identity, namespace })
    const failurePolicy = settings.webhookFailurePolicy
    const admission = new ApplicationAdmission(context, { metrics, namespace, policy, policyOnRest, failurePolicy })
    return {
      controllers: [
        applicationController({
          namespace,
          concurrency,
          recorder: history.recorder,
          onReconciled: metrics.reconciled,
        }),
      ],
      components: [...metrics.components, history.component, admission.component],
      webhooks: admission.webhooks,
      routes: applicationRoutes(context, {
        events: history,
        reviews: admission,
        namespace,
        policy: policyOnRest ? policy : undefined,
        createNamespaces: settings.createNamespaces,
        readyzLeaderOnly: settings.readyzLeaderOnly,
      }),
      views: [applicationsView(context, namespace)],
    }
  },
})
