import { TenureError } from '@tenure/kube'
import type { StandardSettings } from '../configuration/index.ts'
import { type Webhook, Webhooks, type WebhooksOptions } from '../webhooks/index.ts'
import type { Component, OperatorContext } from './component.ts'
import type { WebhookRegistrar } from './options.ts'

type Reachability = Pick<WebhooksOptions, 'configuration' | 'host' | 'port' | 'secret'>

const DEFAULT_PORT = 9_443

/** Serves an operator's webhooks according to its settings. Undefined: they are off, or the API server could not reach them. */
export function settledWebhooks(
  webhooks: readonly Webhook[],
  context: OperatorContext,
  settings: StandardSettings,
): Component | undefined {
  const where = settings.webhooks === false ? undefined : reachability(context, settings)
  return where && component(webhooks, context, where)
}

/**
 * How the API server reaches the webhooks. Behind a Service the replicas share one certificate in a Secret; at a URL
 * there is one replica with its own. Undefined: it could not reach them.
 */
export function reachability(
  { identity: { name }, log, namespace: home }: Pick<OperatorContext, 'identity' | 'log' | 'namespace'>,
  settings: StandardSettings,
): Reachability | undefined {
  const { webhookUrl: url, webhookPort: port = DEFAULT_PORT } = settings
  if (url !== undefined) return { port, configuration: { name, address: { url } } }
  // A Service selects pods. Registering one for a process outside the cluster would make every write fail.
  if (settings.webhookServiceNamespace === undefined && !isInCluster()) {
    log.warn('webhooks not served: not in a pod, and no WEBHOOK_URL at which the API server reaches this process')
    return undefined
  }
  const namespace = settings.webhookServiceNamespace ?? home
  const service = { name: settings.webhookServiceName ?? name, namespace }
  const secret = { name: settings.webhookSecret ?? `${name}-webhook`, namespace }
  return { port, secret, configuration: { name, address: { service } } }
}

/**
 * Serves an operator's webhooks on this machine, from the start of the process. Several processes may share one control
 * plane, each with its own port; the registrar decides which of them registers its own. Certificates last as long as
 * the process.
 */
export function loopbackWebhooks(
  webhooks: readonly Webhook[],
  context: OperatorContext,
  registrar: WebhookRegistrar | undefined,
): Component {
  const served = create(webhooks, context, {
    host: '127.0.0.1',
    port: 0,
    configuration: { name: context.identity.name, address: { url: 'https://127.0.0.1:0' } },
  })
  let remove: (() => void) | undefined
  return {
    name: 'webhooks',
    start: async (signal) => {
      await served.serve(signal)
      const register = (until: AbortSignal): Promise<void> => served.register(until)
      if (registrar) remove = await registrar.add(register, signal)
      else await register(signal)
    },
    stop: async (grace) => {
      remove?.()
      await served.close(grace)
    },
  }
}

/** Not ready before the API server trusts the webhooks: `helm install --wait` returns when it calls them. */
function component(webhooks: readonly Webhook[], context: OperatorContext, where: Reachability): Component {
  const served = create(webhooks, context, where)
  const { name } = context.identity
  let isTrusted = false
  let removeCheck: (() => void) | undefined
  return {
    name: 'webhooks',
    start: async (signal) => {
      removeCheck = context.probes.add('ready', `${name}-webhooks`, () => {
        if (!isTrusted) throw notTrusted(name)
      })
      await served.start(signal)
      served.register().then(
        () => (isTrusted = true),
        // Closed before.
        () => undefined,
      )
    },
    stop: async (grace) => {
      removeCheck?.()
      await served.close(grace)
    },
  }
}

function notTrusted(name: string): TenureError {
  return new TenureError(
    'TENURE_WEBHOOKS_NOT_TRUSTED',
    `The webhook configurations ${name} do not have the certificate of this process yet; if that lasts, the log says which permission is missing.`,
    { fate: 'retry' },
  )
}

function create(webhooks: readonly Webhook[], context: OperatorContext, where: Reachability): Webhooks {
  const { api, informers, clock, random, log, metrics } = context
  return new Webhooks({ ...where, webhooks, cluster: { api, informers }, clock, random, log, metrics })
}

/** Kubernetes sets this variable in every container. */
function isInCluster(): boolean {
  return Boolean(process.env['KUBERNETES_SERVICE_HOST'])
}
