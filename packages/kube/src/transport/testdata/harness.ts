import { afterEach } from 'vitest'
import { connectTo } from '../../config/connection-config.ts'
import { HttpTransport } from '../http-transport.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { pem, startServer } from './servers.ts'
import type { ConnectionConfig } from '../../config/connection-config.ts'
import type { HttpTransportOptions } from '../http-transport.ts'
import type { TransportRequest } from '../transport.ts'
import type { TestServer } from './servers.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

/** Closes `thing` at the end of the test. */
export function keep<T extends { close(): Promise<void> }>(thing: T): T {
  opened.push(thing)
  return thing
}

export async function serve(...args: Parameters<typeof startServer>): Promise<TestServer> {
  return keep(await startServer(...args))
}

/** A configuration with the right authority and the token `t`. */
export const configFor = (server: TestServer, change: Partial<ConnectionConfig> = {}): ConnectionConfig => ({
  ...connectTo({ server: `https://127.0.0.1:${server.port}`, ca: pem('ca.pem'), token: 't' }),
  ...change,
})

export function open(config: ConnectionConfig, options: HttpTransportOptions = {}): HttpTransport {
  return keep(new HttpTransport(config, { clock: new VirtualClock(), isTerminal: () => false, ...options }))
}

export const get = { method: 'GET', path: '/version' } as const
export const watch = { method: 'GET', path: '/watch', stream: true } as const

/** Status and body. */
export async function text(transport: HttpTransport, request: TransportRequest = get): Promise<string> {
  const response = await transport.request(request)
  return `${response.status} ${await response.body.text()}`
}

/** The error of a promise, handled immediately so that it is never an unhandled rejection. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('The promise did not reject'),
    (error: unknown) => error,
  )
}
