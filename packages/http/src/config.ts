import { TenureError } from '@tenure/kube'
import type { Table, Values } from '@tenure/runtime/configuration'
import type { HttpServerOptions } from './server/http-server.ts'

/** The settings of a program that serves HTTP, for its configuration table. */
export const httpConfig = {
  port: {
    type: 'integer',
    default: 3000,
    min: 0,
    max: 65_535,
    meaning: 'Port of the HTTP API, probes, metrics and the dashboard. 0 chooses a free port.',
  },
  host: {
    type: 'string',
    default: '127.0.0.1',
    environment: 'LISTEN_HOST',
    meaning: 'Address to listen on. On any but a loopback address callers need a token, unless AUTH is none.',
  },
  auth: {
    type: 'string',
    choices: ['auto', 'token', 'none'],
    default: 'auto',
    meaning:
      'Authentication of the HTTP API. token: callers need a bearer token; RBAC decides what they may do. none: every ' +
      'caller is allowed. auto: none on a loopback address, otherwise token.',
  },
  tlsCertFile: {
    type: 'string',
    meaning: 'PEM file with the certificate for HTTPS. It is read again when it changes. Default: plain HTTP.',
  },
  tlsKeyFile: { type: 'string', meaning: 'PEM file with the private key of that certificate.' },
  maxRequestsPerSecond: {
    type: 'integer',
    min: 0,
    max: 1_000_000,
    meaning:
      'Requests per second that one caller may send to the HTTP API, after a burst of twice as many; more get a 429. A caller is ' +
      'a user, or an address if callers need no token. 0: no limit. Default: 500 with tokens, otherwise no limit.',
  },
} as const satisfies Table

const { tlsCertFile, tlsKeyFile, maxRequestsPerSecond } = httpConfig

/** The settings of an operator whose own HTTP servers have no place for the dashboard. */
export const dashboardConfig = {
  dashboardAddr: {
    clusterOnly: true,
    type: 'string',
    default: '127.0.0.1:3000',
    meaning:
      'Address of the dashboard and the API that it uses. On any but a loopback address callers need a token. 0: none. In a ' +
      'pod `kubectl port-forward` reaches the default.',
  },
  tlsCertFile,
  tlsKeyFile,
  maxRequestsPerSecond,
} as const satisfies Table

export type DashboardSettings = Values<typeof dashboardConfig>

export type HttpSettings = Values<typeof httpConfig>

const TLS_SETTINGS = { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' }

/** Options of the HTTP server that follow from the settings, except its address. */
export function httpServerSettings({
  auth,
  tlsCertFile: certificateFile,
  tlsKeyFile: keyFile,
  maxRequestsPerSecond: requestsPerSecond,
}: Pick<HttpSettings, 'auth' | 'tlsCertFile' | 'tlsKeyFile' | 'maxRequestsPerSecond'>): Pick<
  HttpServerOptions,
  'authentication' | 'limits' | 'tls' | 'setting' | 'hostSetting'
> {
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new TenureError(
      'TENURE_TLS_INCOMPLETE',
      'TLS needs a certificate and its key: set both TLS_CERT_FILE and TLS_KEY_FILE, or neither.',
      { fate: 'terminal' },
    )
  }
  return {
    setting: 'PORT',
    hostSetting: 'LISTEN_HOST',
    ...(auth !== 'auto' && { authentication: auth }),
    ...(requestsPerSecond !== undefined && { limits: { requestsPerSecond } }),
    ...(certificateFile !== undefined &&
      keyFile !== undefined && { tls: { certificateFile, keyFile, settings: TLS_SETTINGS } }),
  }
}
