import {
  Client,
  type ConnectionConfig,
  explainStartupFailure,
  HttpTransport,
  loadConfig,
  type LoadConfigOptions,
  systemClock,
  TenureError,
  type Transport,
} from '@tenure/kube'
import { type Logger, silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { measuredTransport } from '../metrics/transport-metrics.ts'
import { noTracer, tracedTransport } from '../tracing/tracing.ts'
import type { RunOperatorsOptions } from './options.ts'

export interface Connection {
  readonly transport: Transport
  readonly namespace: string
  close(): Promise<void>
}

/** Opens the configured transport, with its requests measured and traced. */
export async function connect(options: RunOperatorsOptions, metrics: Metrics): Promise<Connection> {
  const { clock = systemClock, tracer = noTracer } = options
  const observed = (transport: Transport, host: string): Transport =>
    measuredTransport(tracedTransport(transport, tracer), { metrics, clock, host })
  if (options.transport) {
    const { transport } = options
    return {
      transport: observed(transport, 'in-process'),
      namespace: options.namespace ?? 'default',
      close: () => Promise.resolve(),
    }
  }
  const config = options.config ?? (await findServer(options.inCluster, options.log ?? silentLogger))
  const http = new HttpTransport(config, { userAgent: 'tenure', clock })
  const closing = new AbortController()
  const reported = reportUnreachable(http, config, { log: options.log ?? silentLogger, signal: closing.signal })
  return {
    transport: observed(http, new URL(config.server).host),
    namespace: options.namespace ?? config.namespace,
    close: async () => {
      closing.abort()
      await reported
      await http.close()
    },
  }
}

/**
 * Names an API server that does not answer, or refuses the credentials, at once: watches and elections report it only after
 * their own time-outs, and continue to try.
 */
export async function reportUnreachable(
  transport: Transport,
  config: ConnectionConfig,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { requester } = new Client({ transport, retry: { attempts: 1 } })
  try {
    await requester.json({ verb: 'get', method: 'GET', path: '/version', idempotent: true, signal })
  } catch (error) {
    if (signal.aborted) return
    log.error('API server is not usable yet, trying again', { reason: explainStartupFailure(error, config) })
  }
}

/** See `RunOperatorsOptions.inCluster`. */
export async function findServer(
  inCluster: boolean | undefined,
  log: Logger,
  options: LoadConfigOptions = {},
): Promise<ConnectionConfig> {
  if (inCluster !== true) return loadConfig({ ...options, inCluster })
  try {
    return await loadConfig({ ...options, inCluster })
  } catch (error) {
    if (!(error instanceof TenureError) || error.code !== 'TENURE_KUBECONFIG_IN_CLUSTER') throw error
    log.info('no service account found, using the kubeconfig', { reason: error.message })
    return loadConfig({ ...options, inCluster: false })
  }
}
