import type { AddressInfo, Server } from 'node:net'
import { asError, TenureError } from '@tenure/kube'
import { formatAddress, type ListenAddress, parseAddress } from './address.ts'

export interface ListenOptions {
  /** The name of the server, for messages. */
  readonly what: string
  /** The setting of the port, for messages: `PORT`. Default none. */
  readonly setting?: string | undefined
  /** The setting of the host, for messages: `LISTEN_HOST`. Default: `setting`. */
  readonly hostSetting?: string | undefined
  /** For a port in use: fail, or use the next free one. Default `fail`. */
  readonly whenTaken?: 'fail' | 'next' | undefined
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

/**
 * The port that `listen` would use at an address, before anything else is started. Throws as `listen` does. Undefined if the
 * address disables the server, or any port will do.
 */
export async function findPort(address: string, options: ListenOptions): Promise<number | undefined> {
  const wanted = parseAddress(address)
  if (!wanted) return undefined
  const { createServer } = await import('node:net')
  const server = createServer()
  try {
    const { port } = await listen(server, wanted, options)
    return wanted.port === 0 ? undefined : port
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

/** `process 4711 (node server.js)`, or `another program` if the process cannot be told. */
export async function describePortHolder(port: number): Promise<string> {
  // Loaded on demand: few programs find a port taken.
  const { portHolder } = await import('./port-holder.ts')
  const holder = await portHolder(port)
  return holder ? `process ${holder.pid} (${holder.command})` : 'another program'
}

function listenOnce(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onListening = (): void => {
      server.off('error', onError)
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('The server has no address.'))
      else resolve(address)
    }
    const onError = (error: Error): void => {
      server.off('listening', onListening)
      reject(error)
    }
    server.once('error', onError).once('listening', onListening)
    server.listen({ port, ...(host && { host }) })
  })
}

/** Says why a server cannot listen, and which setting to change. */
async function explain(error: unknown, wanted: ListenAddress, options: ListenOptions): Promise<TenureError> {
  const { what, setting, hostSetting = setting, whenTaken } = options
  const cause = asError(error)
  const where = formatAddress(wanted)
  const elsewhere = setting ? `choose another with ${setting}` : 'choose another'
  switch (codeOf(error)) {
    case 'EADDRINUSE': {
      const more = whenTaken === 'next' ? `, and so are the ${MAX_PORTS_TRIED - 1} after it` : ''
      const holder = await describePortHolder(wanted.port)
      return new TenureError(
        'TENURE_PORT_TAKEN',
        `Port ${wanted.port} for ${what} (${where}) is taken by ${holder}${more}; stop it, or ${elsewhere}.`,
        { cause },
      )
    }
    case 'EACCES':
      return new TenureError(
        'TENURE_PORT_FORBIDDEN',
        `Port ${wanted.port} for ${what} may not be opened by this user; use a port above 1023: ${elsewhere}.`,
        { cause },
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new TenureError(
        'TENURE_ADDRESS_UNAVAILABLE',
        `${wanted.host ?? where} for ${what} is not an address of this machine; ${hostSetting ? `set ${hostSetting} to one that is` : 'choose one that is'}.`,
        { cause },
      )
    default:
      return new TenureError(
        'TENURE_LISTEN_FAILED',
        `Could not listen on ${where} for ${what}: ${cause.message}; ${elsewhere}.`,
        { cause },
      )
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
