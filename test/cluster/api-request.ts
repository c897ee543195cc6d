import { Agent, request } from 'node:https'

import type { CertificateWithKey } from '../../packages/runtime/src/certificates/index.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

/** Asks the API server of a cluster that is just starting. Resolves to undefined while nobody answers. */
export type ApiRequest = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer | undefined>

const TIMEOUT_MS = 5_000

/** The few requests that starting a cluster takes need no client library, and the library's tests need the cluster. */
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
