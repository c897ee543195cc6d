import type { Transport } from '@tenure/kube'
import { HttpTransport, loadConfig, systemClock } from '@tenure/kube'
import type { Metrics } from '../metrics.ts'
import { measuredTransport } from '../transport-metrics.ts'
import type { ManagerOptions } from './options.ts'

export interface Connection {
  readonly transport: Transport
  readonly namespace: string
  close(): Promise<void>
}

/** Opens the transport that the options name, with its requests counted. */
export async function connect(options: ManagerOptions, metrics: Metrics): Promise<Connection> {
  const { clock = systemClock } = options
  if (options.transport) {
    const { transport } = options
    return {
      transport: measuredTransport(transport, { metrics, clock, host: 'in-process' }),
      namespace: options.namespace ?? 'default',
      close: () => Promise.resolve(),
    }
  }
  const config = options.config ?? (await loadConfig())
  const http = new HttpTransport(config, { userAgent: options.name ?? 'tenure', clock })
  return {
    transport: measuredTransport(http, { metrics, clock, host: new URL(config.server).host }),
    namespace: options.namespace ?? config.namespace,
    close: () => http.close(),
  }
}
