import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TenureError } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { ListenAddress } from '@tenure/runtime/health'
import { cannotListen } from '@tenure/runtime/health'
import { portHolder } from './port-holder.ts'

export interface ListenOptions {
  /** The name of the server, for messages. */
  readonly what: string
  /** The setting for the port, for messages. */
  readonly setting: string | undefined
  readonly whenTaken: 'fail' | 'next'
}

/** Number of ports to try, starting with the configured one. */
const MAX_PORTS_TRIED = 100

/** Listens on `wanted`, or on the next free port after it, and returns the address. */
export async function listen(server: Server, wanted: ListenAddress, options: ListenOptions): Promise<AddressInfo> {
  const tries = options.whenTaken === 'next' && wanted.port !== 0 ? MAX_PORTS_TRIED : 1
  for (let step = 0; ; step++) {
    const address = { ...wanted, port: wanted.port + step }
    try {
      return await listenOnce(server, address)
    } catch (error) {
      const isTaken = codeOf(error) === 'EADDRINUSE'
      if (!isTaken || step + 1 >= tries || address.port >= 65_535) throw await explain(error, wanted, options)
    }
  }
}

function listenOnce(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onListening = (): void => {
      server.off('error', onError)
      resolve(server.address() as AddressInfo)
    }
    const onError = (error: Error): void => {
      server.off('listening', onListening)
      reject(error)
    }
    server.once('error', onError).once('listening', onListening)
    server.listen({ port, ...(host && { host }) })
  })
}

async function explain(error: unknown, wanted: ListenAddress, options: ListenOptions): Promise<TenureError> {
  const { what, setting, whenTaken } = options
  const holder = codeOf(error) === 'EADDRINUSE' ? await portHolder(wanted.port) : undefined
  const by = holder ? `process ${holder.pid} (${holder.command})` : 'another program'
  const more = whenTaken === 'next' ? `, and so are the ${MAX_PORTS_TRIED - 1} after it` : ''
  return cannotListen(asError(error), wanted, {
    what,
    takenBy: `${by}${more}`,
    ...(setting !== undefined && { setting }),
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}

/** True if only this machine can reach the address. */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1)$/i.test(host)
}
