/** Clients of this project for tests against a real API server. */
import type { ClientOptions, ConnectionConfig, HttpTransportOptions, ResponseInfo } from '@tenure/kube'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'

export interface ConnectOptions {
  readonly transport?: HttpTransportOptions
  readonly client?: Omit<ClientOptions, 'transport' | 'onResponse'>
}

export interface Connected {
  readonly client: Client
  readonly config: ConnectionConfig
  /** Every request attempt so far. */
  readonly responses: readonly ResponseInfo[]
  close(): Promise<void>
}

export async function connect(kubeconfigPath: string, options: ConnectOptions = {}): Promise<Connected> {
  return connectWith(await loadConfig({ kubeconfigPath, env: {} }), options)
}

export function connectWith(config: ConnectionConfig, options: ConnectOptions = {}): Connected {
  const transport = new HttpTransport(config, options.transport)
  const responses: ResponseInfo[] = []
  const client = new Client({ ...options.client, transport, onResponse: (info) => responses.push(info) })
  return { client, config, responses, close: () => transport.close() }
}
