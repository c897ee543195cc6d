import { ConnectionError, TenureError } from '../errors/errors.ts'
import { systemCode } from './files.ts'
import type { ConnectionConfig } from './connection-config.ts'

/** Turns an error of a socket, TLS or the HTTP client into one that names the server and says what to do. */
export function connectionFailure(error: Error, config: ConnectionConfig, doing: string): Error {
  if (error instanceof TenureError) return error
  const code = systemCode(error) ?? ''
  // A bug in this program or the HTTP client must not look like a network failure.
  if (error instanceof TypeError && code === '') return error
  const problem = describe(code, error, config, doing)
  return new ConnectionError(problem.code, problem.sentence, { cause: error, fate: problem.fate ?? 'retry' })
}

interface Problem {
  readonly code: `TENURE_${string}`
  readonly sentence: string
  readonly fate?: 'terminal'
}

function describe(code: string, error: Error, config: ConnectionConfig, doing: string): Problem {
  const server = config.server
  const named = `${server} (${config.origin})`
  const through = config.proxyUrl ? ' through its proxy' : ''
  switch (code) {
    case 'ECONNREFUSED':
      return {
        code: 'TENURE_CONNECTION_REFUSED',
        sentence: `Nothing listens at the API server's address ${named}: start the server or correct the address.`,
      }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'TENURE_CONNECTION_UNKNOWN_HOST',
        sentence: `The name of the API server ${named} cannot be resolved (${code}): correct the address or check DNS.`,
      }
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return {
        code: 'TENURE_CONNECTION_UNREACHABLE',
        sentence: `The API server ${named} cannot be reached${through} (${code === 'UND_ERR_CONNECT_TIMEOUT' ? 'time-out' : code}): check the network, VPN and firewall.`,
      }
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return {
        code: 'TENURE_CONNECTION_TIMEOUT',
        sentence: `The API server ${named} did not answer ${doing} in time: check its health and the network.`,
      }
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_SIGNATURE_FAILURE':
    case 'CERT_UNTRUSTED':
      return {
        code: 'TENURE_TLS_UNKNOWN_AUTHORITY',
        sentence: `The certificate of the API server ${named} is signed by an authority that is not trusted: set the cluster's certificate-authority to the one that signed it.`,
      }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        code: 'TENURE_TLS_WRONG_NAME',
        sentence: `The certificate of the API server ${named} is for another name than ${config.tls.serverName ?? new URL(server).hostname}: use an address that it covers or set tls-server-name.`,
      }
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return {
        code: 'TENURE_TLS_EXPIRED',
        sentence: `The certificate of the API server ${named} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}: renew it, or correct this machine's clock.`,
      }
    case 'UND_ERR_PRX_TLS':
    case 'UND_ERR_PRX_CONNECT':
      return proxyProblem(named, error)
    case 'UND_ERR_ABORTED':
      return config.proxyUrl ? proxyProblem(named, error) : broken(named, error, doing)
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return {
        code: 'TENURE_TRANSPORT_CLOSED',
        sentence: `The connection to the API server ${named} was closed by this program.`,
        fate: 'terminal',
      }
    case 'UND_ERR_INVALID_ARG':
      return {
        code: 'TENURE_REQUEST_INVALID',
        sentence: `The request ${doing} to the API server ${named} cannot be sent (${error.message}): correct its path or headers.`,
        fate: 'terminal',
      }
    default:
      return /^(ERR_SSL_|EPROTO)/.test(code) ? tlsProblem(named, code, error) : broken(named, error, doing)
  }
}

function tlsProblem(named: string, code: string, error: Error): Problem {
  // An EPROTO error of OpenSSL has its reason only in the text.
  const text = `${code} ${error.message}`
  if (/wrong.version.number|packet.length.too.long|http.request/i.test(text)) {
    return {
      code: 'TENURE_TLS_NOT_SPOKEN',
      sentence: `The server at ${named} does not use TLS: use an http address or the port of the API server.`,
    }
  }
  if (/alert.*(certificate|unknown.ca|access.denied)/i.test(text)) {
    return {
      code: 'TENURE_TLS_CLIENT_CERTIFICATE',
      sentence: `The API server ${named} rejected the client certificate: renew it or log in again.`,
    }
  }
  return {
    code: 'TENURE_TLS_FAILED',
    sentence: `TLS with the API server ${named} failed (${error.message.trim()}): check its certificate and TLS versions.`,
  }
}

function proxyProblem(named: string, error: Error): Problem {
  return {
    code: 'TENURE_CONNECTION_PROXY',
    sentence: `The proxy for the API server ${named} did not open a connection (${error.message}): check proxy-url, its credentials and that it can reach the server.`,
  }
}

function broken(named: string, error: Error, doing: string): Problem {
  return {
    code: 'TENURE_CONNECTION_BROKEN',
    sentence: `The connection to the API server ${named} broke during ${doing} (${error.message}): try again, and check the network if it happens again.`,
  }
}
