import type { ServiceAddress } from './caller.ts'

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])

interface ConnectionFailure extends NodeJS.ErrnoException {
  readonly cert?: { readonly subjectaltname?: string }
}

/** Converts a connection error of Node to the message of Go's HTTP client, which users search for. */
export function goNetError(failure: Error, at: ServiceAddress, name: string): Error {
  const message = goMessage(failure, at, name)
  return message === undefined ? failure : new Error(message, { cause: failure })
}

function goMessage(failure: ConnectionFailure, { host, port }: ServiceAddress, name: string): string | undefined {
  const { code = '', message } = failure
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (UNKNOWN_AUTHORITY.has(code)) return unverified('certificate signed by unknown authority')
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${address}: connect: no route to host`
    case 'ENETUNREACH':
      return `dial tcp ${address}: connect: network is unreachable`
    case 'ETIMEDOUT':
      return `dial tcp ${address}: i/o timeout`
    case 'ENOTFOUND':
      return `dial tcp: lookup ${host}: no such host`
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${host}: server misbehaving`
    case 'ECONNRESET':
      return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
    case 'EPROTO':
      return /wrong version number|http request/i.test(message)
        ? 'http: server gave HTTP response to HTTPS client'
        : `remote error: tls: ${message}`
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return unverified('certificate has expired or is not yet valid')
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return unverified(wrongName(failure.cert?.subjectaltname ?? '', name))
    default:
      return undefined
  }
}

const unverified = (why: string): string => `tls: failed to verify certificate: x509: ${why}`

function wrongName(altNames: string, name: string): string {
  const isAddress = /^[\d.]+$|:/.test(name)
  const prefix = isAddress ? 'IP Address:' : 'DNS:'
  const names = altNames
    .split(', ')
    .filter((one) => one.startsWith(prefix))
    .map((one) => one.slice(prefix.length))
  if (names.length > 0) return `certificate is valid for ${names.join(', ')}, not ${name}`
  return isAddress
    ? `cannot validate certificate for ${name} because it doesn't contain any IP SANs`
    : `certificate is not valid for any names, but wanted to match ${name}`
}
