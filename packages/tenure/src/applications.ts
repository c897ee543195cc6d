import { applicationsOperator, imagePolicyOf, LEADER_LEASE, OPERATOR } from '@tenure/applications'
import type { ApplicationsSettings } from '@tenure/applications'
import { loadConfig } from '@tenure/kube'
import { createLogger } from '@tenure/runtime'
import type { Logger, ManagerOptions, Webhook } from '@tenure/runtime'
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
      ...webhooksOf(settings, operator.webhooks, config.namespace, log),
    },
    signal,
  )
}

/** Behind a Service the replicas share one certificate, in a Secret; at a URL there is one replica, with its own. */
function webhooksOf(
  settings: ApplicationsSettings,
  webhooks: readonly Webhook[],
  namespace: string,
  log: Logger,
): Pick<ManagerOptions, 'webhooks'> {
  if (!settings.webhooks) return {}
  const { webhookUrl: url, webhookPort: port } = settings
  // A Service leads to pods. To register it for a process elsewhere would only get every Application refused.
  const isReachable = url !== undefined || settings.webhookServiceNamespace !== undefined || isInCluster()
  if (!isReachable) {
    log.warn('webhooks left out: no pod, and no WEBHOOK_URL by which the API server could reach this process')
    return {}
  }
  if (url !== undefined) return { webhooks: { webhooks, port, configuration: { name: OPERATOR, address: { url } } } }
  const home = settings.webhookServiceNamespace ?? namespace
  return {
    webhooks: {
      webhooks,
      port,
      secret: { name: settings.webhookSecret, namespace: home },
      configuration: {
        name: OPERATOR,
        address: { service: { name: settings.webhookServiceName, namespace: home } },
      },
    },
  }
}

/** Kubernetes says so to every container. */
function isInCluster(): boolean {
  return Boolean(process.env['KUBERNETES_SERVICE_HOST'])
}
