import type { Transport } from '@tenure/kube'
import { HttpTransport, loadConfig, systemClock } from '@tenure/kube'
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
  const config = options.config ?? (await loadConfig())
  const http = new HttpTransport(config, { userAgent: 'tenure', clock })
  return {
    transport: observed(http, new URL(config.server).host),
    namespace: options.namespace ?? config.namespace,
    close: () => http.close(),
  }
}
