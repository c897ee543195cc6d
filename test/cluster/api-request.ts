import { Agent, request } from 'node:https'

import type { CertificateWithKey } from '../../packages/runtime/src/certificates/index.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

/** Sends a request to the API server of a starting cluster. Resolves to undefined while it does not respond. */
export type ApiRequest = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer | undefined>

const TIMEOUT_MS = 5_000

/** Starting a cluster needs few requests and no client library, because the library's tests need the cluster. */
export function apiRequests(server: string, ca: string, user: CertificateWithKey): ApiRequest & { close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca, cert: user.certificate, key: user.key })
  const ask: ApiRequest = (method, path, body) =>
    new Promise((resolve) => {
      const outgoing = request(
        new URL(path, server),
        { method, agent, timeout: TIMEOUT_MS, headers: { 'content-type': 'application/json' } },
        (incoming) => {
          let text = ''
          incoming.setEncoding('utf8')
          incoming.on('data', (chunk: string) => (text += chunk))
          incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }))
          incoming.once('error', () => resolve(undefined))
        },
      )
      outgoing.once('timeout', () => outgoing.destroy())
      outgoing.once('error', () => resolve(undefined))
      outgoing.end(body && JSON.stringify(body))
    })
  return Object.assign(ask, { close: () => agent.destroy() })
}
