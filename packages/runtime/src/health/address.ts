import { TenureError } from '@tenure/kube'

/** A listen address. Without a host the server listens on every interface. */
export interface ListenAddress {
  readonly host: string | undefined
  /** 0 picks any free port. */
  readonly port: number
}

/**
 * Parses a listen address in Go's notation: `:8081`, `0.0.0.0:8081`, `[::1]:8081`, `localhost:0`. `0` and the empty
 * string disable listening: undefined.
 */
export function parseAddress(text: string): ListenAddress | undefined {
  if (text === '0' || text === '') return undefined
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw new TenureError(
      'TENURE_ADDRESS_INVALID',
      `${JSON.stringify(text)} is not a listen address; write :8081, 127.0.0.1:8081 or [::1]:8081, or 0 for none.`,
    )
  }
  return { host: match[1] || match[2] || undefined, port }
}

/** `host:port`, with the brackets that IPv6 needs. */
export function formatAddress({ host, port }: ListenAddress): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host ?? ''}:${port}`
}
