import { TenureError } from '@tenure/kube'

/** Where to listen. Without a host: on every interface. */
export interface ListenAddress {
  readonly host: string | undefined
  /** 0: any free port. */
  readonly port: number
}

/**
 * Reads where to listen, as Go programs write it: `:8081`, `0.0.0.0:8081`, `[::1]:8081`, `localhost:0`. `0` and the
 * empty text mean not at all: undefined.
 */
export function parseAddress(text: string): ListenAddress | undefined {
  if (text === '0' || text === '') return undefined
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw new TenureError(
      'TENURE_ADDRESS_INVALID',
      `${JSON.stringify(text)} is no address to listen on; write :8081, 127.0.0.1:8081 or [::1]:8081, or 0 for none.`,
    )
  }
  return { host: match[1] || match[2] || undefined, port }
}

/** `host:port`, with the brackets that IPv6 needs. */
export function formatAddress({ host, port }: ListenAddress): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host ?? ''}:${port}`
}
