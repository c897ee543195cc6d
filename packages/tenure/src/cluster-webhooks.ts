import type { Logger, ManagerOptions, Webhook } from '@tenure/runtime'

export interface ClusterWebhookSettings {
  readonly webhookPort: number
  readonly webhookServiceName: string
  readonly webhookServiceNamespace: string | undefined
  readonly webhookUrl: string | undefined
  readonly webhookSecret: string
}

export interface ClusterWebhooks {
  /** Of their configurations. */
  readonly name: string
  readonly webhooks: readonly Webhook[]
  /** Of the connection, which is the pod's own. */
  readonly namespace: string
}

/** Behind a Service the replicas share one certificate, in a Secret; at a URL there is one replica, with its own. */
export function clusterWebhooks(
  { name, webhooks, namespace }: ClusterWebhooks,
  settings: ClusterWebhookSettings,
  log: Logger,
): Pick<ManagerOptions, 'webhooks'> {
  const { webhookUrl: url, webhookPort: port } = settings
  // A Service leads to pods. To register it for a process elsewhere would only get every write refused.
  const isReachable = url !== undefined || settings.webhookServiceNamespace !== undefined || isInCluster()
  if (!isReachable) {
    log.warn('webhooks left out: no pod, and no WEBHOOK_URL by which the API server could reach this process')
    return {}
  }
  if (url !== undefined) return { webhooks: { webhooks, port, configuration: { name, address: { url } } } }
  const home = settings.webhookServiceNamespace ?? namespace
  return {
    webhooks: {
      webhooks,
      port,
      secret: { name: settings.webhookSecret, namespace: home },
      configuration: { name, address: { service: { name: settings.webhookServiceName, namespace: home } } },
    },
  }
}

/** Kubernetes says so to every container. */
function isInCluster(): boolean {
  return Boolean(process.env['KUBERNETES_SERVICE_HOST'])
}
