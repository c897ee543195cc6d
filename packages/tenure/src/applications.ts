import { applicationsOperator, imagePolicyOf, LEADER_LEASE, OPERATOR } from '@tenure/applications'
import type { ApplicationsSettings } from '@tenure/applications'
import { loadConfig } from '@tenure/kube'
import { createLogger } from '@tenure/runtime'
import { clusterWebhooks } from './cluster-webhooks.ts'
import { httpOptions, runOperators } from './run-operators.ts'

/** Runs the applications operator against the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runApplications(settings: ApplicationsSettings, signal: AbortSignal): Promise<void> {
  const log = await createLogger({ level: settings.logLevel, format: settings.logFormat })
  const config = await loadConfig()
  const identity = settings.podName
  const lease = { name: LEADER_LEASE, namespace: settings.leaderElectionNamespace ?? config.namespace }
  const operator = applicationsOperator({
    ...settings,
    policy: imagePolicyOf(settings),
    policyOnRest: settings.imagePolicyOnRest,
    failurePolicy: settings.webhookFailurePolicy,
    identity,
    lease: settings.enableLeaderElection ? lease : undefined,
  })
  await runOperators(
    {
      name: OPERATOR,
      operators: [operator],
      config,
      log,
      http: { ...httpOptions(settings), address: `${settings.host}:${settings.port}` },
      ...(settings.enableLeaderElection && { leaderElection: { ...lease, identity, whenLost: 'campaign' as const } }),
      ...(settings.webhooks &&
        clusterWebhooks({ name: OPERATOR, webhooks: operator.webhooks, namespace: config.namespace }, settings, log)),
    },
    signal,
  )
}
